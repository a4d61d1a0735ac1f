import { type RawBuilder, sql } from 'kysely'
import type { Core } from '../../../core.ts'
import type { Add, Person } from './erasers.ts'
import { pseudonymOf } from './pseudonym.ts'

/** Rows that stay for the organization's figures: the person's name in them becomes a pseudonym. */
const renamedIn = (
  table: string,
  columns: readonly string[],
  more: readonly string[],
  { email, organization_id }: Person,
  pseudonym: string,
): RawBuilder<unknown> => {
  const names = columns.map(
    (name) => sql`${sql.ref(name)} =
      case when ${sql.ref(name)} = ${email} then ${pseudonym} else ${sql.ref(name)} end`,
  )
  const cleared = more.map((name) => sql`${sql.ref(name)} = null`)
  return sql`update ${sql.table(table)} set ${sql.join([...names, ...cleared])}
    where organization_id = ${organization_id}
      and ${email} in (${sql.join(columns.map((name) => sql.ref(name)))})`
}

const renaming =
  (table: string, columns: readonly string[], cleared: readonly string[] = []) =>
  ({ db, vault }: Core, person: Person, add: Add): Promise<void> =>
    db.transaction().execute(async (tx) => {
      const pseudonym = pseudonymOf(vault, person.email)
      const query = renamedIn(table, columns, cleared, person, pseudonym)
      const { numAffectedRows } = await query.execute(tx)
      await add(tx, { rows: Number(numAffectedRows) })
    })

/** Complaints about mail of the person, and by them. */
export const eraseComplaints = renaming(
  'feedback_loops',
  ['sender', 'original_recipient', 'complaint_recipient'],
  ['subject'],
)

export const eraseViolations = renaming('dlp_violations', ['sender', 'recipient'])

const TRACES = [
  ...['url', 'user_agent', 'ip_address', 'referer', 'accept_language'],
  ...['region', 'city', 'additional_data'],
]

/** What the person opened and clicked of mail that others of the organization sent. */
export async function eraseTracking({ db, vault }: Core, person: Person, add: Add) {
  const { email, organization_id } = person
  const pseudonym = pseudonymOf(vault, email)
  await db.transaction().execute(async (tx) => {
    const query = renamedIn('tracking_events', ['recipient'], TRACES, person, pseudonym)
    const { numAffectedRows: events } = await query.execute(tx)
    const { numAffectedRows: messages } = await sql`
      update tracked_recipients set recipient = ${pseudonym}
      from tracked_messages
      where tracked_messages.id = tracked_recipients.message_id
        and tracked_messages.organization_id = ${organization_id}
        and tracked_recipients.recipient = ${email}`.execute(tx)
    await add(tx, { events: Number(events), messages: Number(messages) })
  })
}
