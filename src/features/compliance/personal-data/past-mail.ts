import { inCopies, isoOfMicros, type PastDays } from '../../../hosting/past-days.ts'
import { ch, column, type Fragment, joined } from '../../../outbound/clickhouse.ts'
import type { Person } from './personal-table.ts'
import { tablesOfMail } from './tables-of-mail.ts'

/*
 * The rows of the mail log about a person in days that have moved to ClickHouse. The register has the
 * counterparts for PostgreSQL.
 */

const isAbout = ({ email, organization_id }: Person): Fragment => {
  const tests = ['sender', 'recipient', 'original_recipient'].map(
    (name) => ch`${column(name)} = ${email}`,
  )
  if (organization_id !== null) {
    tests.push(ch`(organization_id = ${organization_id} and sasl_username = ${email})`)
  }
  return ch`(${joined(tests, ' or ')})`
}

/** The organizations that own rows about the person; null is a row without one. */
export async function pastOwners(past: PastDays, person: Person): Promise<(string | null)[]> {
  const copies = await past.copiesIn({})
  if (copies.length === 0) return []
  const rows = await past.store().select<{ owner: string | null }>(ch`
    select distinct organization_id as owner ${inCopies(copies, [isAbout(person)])}`)
  return rows.map(({ owner }) => owner)
}

/** Replaces the address by a pseudonym and clears columns, as the register says. */
export async function erasePast(past: PastDays, person: Person, pseudonym: string) {
  const copies = await past.copiesIn({})
  const erased = tablesOfMail.find(({ table }) => table === 'mail_log')?.erased
  if (copies.length === 0 || !erased || !('rename' in erased)) return 0
  const changes = [
    ...erased.rename.map((name) => {
      const place = column(name)
      return ch`${place} = if(ifNull(${place}, ${''}) = ${person.email}, ${pseudonym}, ${place})`
    }),
    ...erased.clear.map((name) => ch`${column(name)} = null`),
  ]
  return past.change(copies, ch`update ${joined(changes, ', ')}`, isAbout(person))
}

const BATCH_SIZE = 500

type Address = 'sender' | 'recipient' | 'original_recipient'

/** Rows with the address in a column and in none of the columns before it, oldest first. */
export async function* pastLog(past: PastDays, copies: string[], email: string, name: Address) {
  const earlier = { sender: [], recipient: ['sender'], original_recipient: ['sender', 'recipient'] }
  const tests = [
    ch`${column(name)} = ${email}`,
    ...earlier[name].map((other) => ch`${column(other)} <> ${email}`),
  ]
  for (const copy of copies) {
    let after = { at: '0', id: '' }
    for (;;) {
      const at = Number(after.at)
      const isAfter = ch`at >= ${at} and (at > ${at} or id > ${after.id})`
      const rows = await past.store().select<{ at: string; id: string }>(ch`
        select id, at, sender, recipient, subject, status, message_id, size
        ${inCopies([copy], [...tests, isAfter])} order by at, id limit ${BATCH_SIZE}`)
      for (const { at: time, id, ...row } of rows) {
        yield { id, timestamp: isoOfMicros(Number(time)), ...row }
      }
      const last = rows.at(-1)
      if (!last || rows.length < BATCH_SIZE) break
      after = last
    }
  }
}

const MAX_CONTACTS = 100_000

/** Correspondents of the person with the number of messages. */
export async function pastContacts(past: PastDays, copies: string[], email: string) {
  if (copies.length === 0) return []
  const sent = inCopies(copies, [ch`sender = ${email}`, ch`recipient <> ${''}`])
  const received = inCopies(copies, [ch`recipient = ${email}`, ch`sender <> ${''}`])
  const rows = await past.store().select<Record<'address' | 'sent' | 'received', string>>(ch`
    select address, sum(was_sent) as sent, sum(was_received) as received from (
      select lowerUTF8(recipient) as address, 1 as was_sent, 0 as was_received ${sent}
      union all
      select lowerUTF8(sender) as address, 0 as was_sent, 1 as was_received ${received})
    group by address order by count() desc, address limit ${MAX_CONTACTS}`)
  return rows.map(({ address, ...counts }) => ({
    address,
    sent: Number(counts.sent),
    received: Number(counts.received),
  }))
}
