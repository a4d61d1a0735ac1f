import { sql } from 'kysely'
import type { Core } from '../../../core.ts'
import type { Add, Person } from './erasers.ts'
import { pseudonymOf } from './pseudonym.ts'

const AT_ONCE = 1000

type Key = number | string
const ascending = (one: Key, other: Key) => (one < other ? -1 : 1)

/** Where copies of events are kept, and whose they are. */
const PLACES = [
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
 * What was told of a person, and may be told again, speaks of a pseudonym from now on. Other addresses
 * that end or begin like theirs stay as they are.
 */
export async function eraseEvents({ db, vault }: Core, person: Person, add: Add) {
  const { email, organization_id } = person
  const pseudonym = pseudonymOf(vault, email)
  const escaped = email.replace(/[^a-z0-9]/gi, '\\$&')
  const pattern = `(?<![a-z0-9._%+-])${escaped}(?![a-z0-9-]|\\.[a-z0-9])`
  for (const { table, key, owner, json, text } of PLACES) {
    const columns = [...json, ...text]
    const renamed = (column: string) =>
      sql`regexp_replace(${sql.ref(column)}::text, ${pattern}, ${pseudonym}, 'gi')`
    const changes = [
      ...json.map((column) => sql`${sql.ref(column)} = ${renamed(column)}::jsonb`),
      ...text.map((column) => sql`${sql.ref(column)} = ${renamed(column)}`),
    ]
    const mentions = columns.map((column) => sql`${sql.ref(column)}::text ~* ${pattern}`)
    // Onwards from the last one changed: whatever was looked at is not looked at again.
    let after: Key[] = []
    do {
      const onwards = after.length === 0 ? sql`true` : sql`${sql.ref(key)} > ${after.at(-1)}`
      after = await db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ key: Key }>`
          update ${sql.table(table)} set ${sql.join(changes)}
          where ${sql.ref(key)} in (select ${sql.ref(key)} from ${sql.table(table)}
            where ${sql.ref(owner)} = ${organization_id} and ${onwards}
              and (${sql.join(mentions, sql` or `)})
            order by ${sql.ref(key)} limit ${AT_ONCE})
          returning ${sql.ref(key)} as key`.execute(tx)
        await add(tx, { [table]: rows.length })
        return rows.map((row) => row.key).sort(ascending)
      })
    } while (after.length === AT_ONCE)
  }
}

/** Jobs that moved the mailbox name it, its other account, and its folders. */
export async function eraseMigrations({ db }: Core, person: Person, add: Add) {
  const { email, organization_id } = person
  await db.transaction().execute(async (tx) => {
    await sql`
      delete from migration_pairs where id in (select pair_id from migration_jobs
        where organization_id = ${organization_id} and mailbox = ${email})`.execute(tx)
    const { numDeletedRows } = await tx
      .deleteFrom('migration_jobs')
      .where('organization_id', '=', organization_id)
      .where('mailbox', '=', email)
      .executeTakeFirst()
    await add(tx, { jobs: Number(numDeletedRows) })
  })
}
