import { sql } from 'kysely'
import type { Core } from '../../../core.ts'
import { mentionPattern, type Person } from '../personal-data/personal-table.ts'
import type { Add } from './erasers.ts'
import { pseudonymOf } from './pseudonym.ts'

const BATCH_SIZE = 1000

type Key = number | string
const ascending = (one: Key, other: Key) => (one < other ? -1 : 1)

/** Tables with copies of events, and the column of each that names the organization. */
const EVENT_TABLES = [
  {
    table: 'events',
    key: 'sequence',
    owner: 'org_id',
    json: ['data', 'tags', 'user_variables', 'metadata'],
    text: [],
  },
  {
    table: 'webhook_dead_letters',
    key: 'id',
    owner: 'organization_id',
    json: ['payload'],
    text: ['last_error'],
  },
  {
    table: 'webhook_deliveries',
    key: 'id',
    owner: 'organization_id',
    json: [],
    text: ['error_message'],
  },
] as const

/**
 * Replaces the person's address by a pseudonym in events and webhook deliveries, which can be sent again.
 * Longer addresses that contain this address stay unchanged.
 */
export async function eraseEvents({ db, vault }: Core, person: Person, add: Add) {
  const { email, organization_id } = person
  const pseudonym = pseudonymOf(vault, email)
  const pattern = mentionPattern(email)
  // Searches the events of all organizations if none owns the address.
  const isOwn = (owner: string) =>
    organization_id === null ? sql`true` : sql`${sql.ref(owner)} = ${organization_id}`
  for (const { table, key, owner, json, text } of EVENT_TABLES) {
    const columns = [...json, ...text]
    const renamed = (column: string) =>
      sql`regexp_replace(${sql.ref(column)}::text, ${pattern}, ${pseudonym}, 'gi')`
    const changes = [
      ...json.map((column) => sql`${sql.ref(column)} = ${renamed(column)}::jsonb`),
      ...text.map((column) => sql`${sql.ref(column)} = ${renamed(column)}`),
    ]
    const mentions = columns.map((column) => sql`${sql.ref(column)}::text ~* ${pattern}`)
    // Each batch starts after the last changed row, so that no row is scanned twice.
    let changedKeys: Key[] = []
    do {
      const isAfter =
        changedKeys.length === 0 ? sql`true` : sql`${sql.ref(key)} > ${changedKeys.at(-1)}`
      changedKeys = await db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ key: Key }>`
          update ${sql.table(table)} set ${sql.join(changes)}
          where ${sql.ref(key)} in (select ${sql.ref(key)} from ${sql.table(table)}
            where ${isOwn(owner)} and ${isAfter}
              and (${sql.join(mentions, sql` or `)})
            order by ${sql.ref(key)} limit ${BATCH_SIZE})
          returning ${sql.ref(key)} as key`.execute(tx)
        await add(tx, { [table]: rows.length })
        return rows.map((row) => row.key).sort(ascending)
      })
    } while (changedKeys.length === BATCH_SIZE)
  }
}
