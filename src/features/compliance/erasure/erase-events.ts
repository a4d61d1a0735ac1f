import { sql } from 'kysely'
import type { Core } from '../../../core.ts'
import { mentionPattern, type Person } from '../personal-data/personal-table.ts'
import type { Add } from './erasers.ts'
import { pseudonymOf } from './pseudonym.ts'

const BATCH_SIZE = 1000

type Id = number | string
const ascending = (one: Id, other: Id) => (one < other ? -1 : 1)

/** Tables with copies of events, and the column of each that names the organization. */
const EVENT_TABLES = [
  {
    table: 'events',
    owner: 'org_id',
    json: ['data', 'tags', 'user_variables', 'metadata'],
    text: [],
  },
  {
    table: 'webhook_dead_letters',
    owner: 'organization_id',
    json: ['payload'],
    text: ['last_error'],
  },
  {
    table: 'webhook_deliveries',
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
  for (const { table, owner, json, text } of EVENT_TABLES) {
    const columns = [...json, ...text]
    const renamed = (column: string) =>
      sql`regexp_replace(${sql.ref(column)}::text, ${pattern}, ${pseudonym}, 'gi')`
    const changes = [
      ...json.map((column) => sql`${sql.ref(column)} = ${renamed(column)}::jsonb`),
      ...text.map((column) => sql`${sql.ref(column)} = ${renamed(column)}`),
    ]
    const mentions = columns.map((column) => sql`${sql.ref(column)}::text ~* ${pattern}`)
    // Each batch starts after the last changed row, so that no row is scanned twice.
    let changedIds: Id[] = []
    do {
      const isAfter = changedIds.length === 0 ? sql`true` : sql`id > ${changedIds.at(-1)}`
      changedIds = await db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ id: Id }>`
          update ${sql.table(table)} set ${sql.join(changes)}
          where id in (select id from ${sql.table(table)}
            where ${isOwn(owner)} and ${isAfter}
              and (${sql.join(mentions, sql` or `)})
            order by id limit ${BATCH_SIZE})
          returning id`.execute(tx)
        await add(tx, { [table]: rows.length })
        return rows.map(({ id }) => id).sort(ascending)
      })
    } while (changedIds.length === BATCH_SIZE)
  }
}
