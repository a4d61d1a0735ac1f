import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { type Lease, newLease } from '../../../jobs/lease.ts'
import { DoveadmAway, type DoveadmCommand, NO_SUCH_USER, NOT_FOUND } from '../../../mail/doveadm.ts'
import { KEPT_PREFIX } from '../../../mail/kept-folders.ts'
import { SHARED } from '../../../mail/own-folders.ts'
import * as pending from './acl.repository.ts'
import { type Entry, entryOf, INBOX, readEntry, stepsBetween } from './acl-rights.ts'

const AT_ONCE = 4
/** Not renewed: an entry takes three short requests. */
const LEASE_SECONDS = 30
const MAX_WAIT_SECONDS = 300
const AWAY_SECONDS = 5

type Needs = Pick<Core, 'authCache' | 'db' | 'doveadm' | 'log'>

/** Synchronizes the rights in Dovecot with the members of shared mailboxes. */
export const keepSharedRights: Chore = {
  name: 'shared-mailbox-rights',
  begin: ({ db }) => pending.markAll(db),
  async round(core) {
    if (!core.doveadm.isConfigured) return false
    const lease = newLease(LEASE_SECONDS)
    const claimed = await pending.claim(core.db, lease, AT_ONCE)
    const results = await Promise.allSettled(claimed.map((one) => settle(core, one, lease)))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
    return claimed.length > 0
  },
}

async function settle(core: Needs, one: pending.Pending, lease: Lease): Promise<void> {
  try {
    await reconcile(core, one.email)
    await pending.finish(core.db, one, lease)
  } catch (error) {
    core.log.warn(
      { err: error, attempts: one.attempts },
      'setting the rights of a shared mailbox failed, will retry',
    )
    // A host that does not respond delays only its own mailboxes.
    const longest = error instanceof DoveadmAway ? AWAY_SECONDS : MAX_WAIT_SECONDS
    const wait = Math.min(longest, 2 ** one.attempts)
    await pending.postpone(core.db, one.email, lease, wait)
  }
}

/** Reads the current rights first, so it can be repeated after an interruption. */
async function reconcile({ authCache, db, doveadm }: Needs, email: string): Promise<void> {
  const { isHosted, isKept, isPersonal, isShared, members } = await pending.targetState(db, email)
  // A personal mailbox now has the address; its holder may share folders, so leave its rights alone.
  if (isPersonal) return
  const entries = members.map((member) => entryOf(member, isKept))
  const isExpected = isHosted && entries.length > 0
  const steps = await stepsLeft(doveadm, email, entries, isExpected)
  const answers = await doveadm.run(steps)
  const failed = answers.findIndex(({ rows }) => rows === undefined)
  if (failed >= 0) {
    throw new Error(`${steps[failed]?.[0]} failed: exit status ${answers[failed]?.exitCode}`)
  }
  if (steps.length > 0 && (await stepsLeft(doveadm, email, entries, isExpected)).length > 0) {
    throw new Error('Dovecot returns other rights than those that were set')
  }
  // Dovecot caches the mail location, which must not outlive the shared mailbox.
  if (!isShared) await authCache.flush([email])
}

/**
 * The commands that give the inbox these rights, and take those of other folders away: Dovecot copies the
 * rights of the day to a folder that a member makes, where they would outlive the membership.
 */
async function stepsLeft(
  doveadm: Core['doveadm'],
  user: string,
  entries: readonly Entry[],
  isExpected: boolean,
): Promise<DoveadmCommand[]> {
  const [listed] = await doveadm.run([['mailboxList', { user }]])
  if (!listed?.rows) {
    if (listed?.exitCode === NO_SUCH_USER && !isExpected) return []
    throw new Error(`mailboxList failed: exit status ${listed?.exitCode}`)
  }
  const names = listed.rows.map(({ mailbox = '' }) => mailbox)
  // Members make no folders among the kept messages, whose rights are those of the configuration.
  const isOwn = (name: string) => !SHARED.test(name) && !`${name}/`.startsWith(KEPT_PREFIX)
  const mailboxes = [INBOX, ...names.filter((name) => name !== INBOX && isOwn(name))]
  const answers = await doveadm.run(mailboxes.map((mailbox) => ['aclGet', { user, mailbox }]))
  return mailboxes.flatMap((mailbox, index) => {
    const answer = answers[index]
    if (!answer?.rows && answer?.exitCode !== NOT_FOUND) {
      throw new Error(`aclGet failed: exit status ${answer?.exitCode}`)
    }
    const current = (answer.rows ?? []).map(readEntry)
    return stepsBetween({ user, mailbox }, current, mailbox === INBOX ? entries : [])
  })
}
