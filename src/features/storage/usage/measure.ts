import type { Core } from '../../../core.ts'
import { type Doveadm, DoveadmAway, NO_SUCH_USER } from '../../../mail/doveadm.ts'
import { addressesOf } from '../storage.repository.ts'
import { followAtOnce } from './follow-usage.ts'
import { type Measured, setDomainMeasured, store } from './usage.repository.ts'

const AT_ONCE = 50
const BATCH_SECONDS = 20
/** Clients wait about half a minute for a response. */
const PATIENCE_MS = 25_000
// Shared folders count towards the quota of their owner.
const SHARED = /^shared\//i

/** Measures mailboxes with Dovecot; mailboxes it does not know are left out. */
export async function measure(doveadm: Doveadm, emails: readonly string[]): Promise<Measured[]> {
  const answers = await doveadm.run(
    emails.map((user) => [
      'mailboxStatus',
      { user, field: ['messages', 'vsize'], mailboxMask: ['*'] },
    ]),
    BATCH_SECONDS,
  )
  return emails.flatMap((email, index) => {
    const answer = answers[index]
    if (answer?.rows === undefined) {
      if (answer?.exitCode === NO_SUCH_USER) return []
      throw new DoveadmAway(`Dovecot could not count ${email}: exit status ${answer?.exitCode}`)
    }
    const own = answer.rows.filter(({ mailbox = '' }) => !SHARED.test(mailbox))
    const sum = (name: string) => own.reduce((total, row) => total + (Number(row[name]) || 0), 0)
    return [{ email, bytes: sum('vsize'), messages: sum('messages') }]
  })
}

type Needs = Pick<Core, 'config' | 'db' | 'doveadm' | 'events' | 'now'>

async function measureAndStore(core: Needs, emails: readonly string[]): Promise<number> {
  const measured = await measure(core.doveadm, emails)
  if (measured.length === 0) return 0
  await store(core.db, measured)
  await followAtOnce(
    core,
    measured.map(({ email }) => email),
  )
  return measured.length
}

/** Measures and stores, with the sums above. Returns false when Dovecot does not know the mailbox. */
export const measureMailbox = async (core: Needs, email: string): Promise<boolean> =>
  (await measureAndStore(core, [email])) > 0

/** Measures the mailboxes of a domain within the time limit. Returns false when some are left. */
export async function measureDomain(core: Needs, domainId: string): Promise<boolean> {
  const begun = Date.now()
  let after = ''
  for (;;) {
    const emails = await addressesOf(core.db, domainId, after, AT_ONCE)
    await measureAndStore(core, emails)
    after = emails.at(-1) ?? after
    if (emails.length < AT_ONCE) break
    if (Date.now() - begun > PATIENCE_MS) return false
  }
  await setDomainMeasured(core.db, domainId, core.now(), Date.now() - begun)
  return true
}
