import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { type Lease, newLease } from '../../../jobs/lease.ts'
import { DoveadmAway, type DoveadmCommand, NO_SUCH_USER, NOT_FOUND } from '../../../mail/doveadm.ts'
import { KEPT_PREFIX } from '../../../mail/kept-folders.ts'
import { SHARED } from '../../../mail/own-folders.ts'
import * as pending from './acl.repository.ts'
import { type Entry, entryOf, INBOX, readEntry, stepsBetween } from './acl-rights.ts'

const AT_ONCE = 4
/** Not renewed: thousands of folders take minutes. Claims of a dead process are free much earlier. */
const LEASE_SECONDS = 600
/** Dovecot must answer a request in time, however many folders and members a mailbox has. */
const COMMANDS_AT_ONCE = 100
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
  const folders = await foldersOf(doveadm, email)
  if (!folders && isHosted && entries.length > 0) throw new Error('Dovecot knows no such mailbox')
  if (folders) {
    // Apart and first: folders without rights of their own follow the inbox.
    await setRights(doveadm, { user: email, mailboxes: [INBOX], entries })
    // Dovecot copies the rights of the day to a folder that a member makes, where they would outlive
    // the membership.
    await setRights(doveadm, { user: email, mailboxes: folders, entries: [] })
  }
  // Dovecot caches the mail location, which must not outlive the shared mailbox.
  if (!isShared) await authCache.flush([email])
}

type Doveadm = Core['doveadm']

/** The folders of a mailbox besides its inbox; undefined when Dovecot does not know the mailbox. */
async function foldersOf(doveadm: Doveadm, user: string): Promise<string[] | undefined> {
  const [listed] = await doveadm.run([['mailboxList', { user }]])
  if (listed?.exitCode === NO_SUCH_USER) return undefined
  if (!listed?.rows) throw new Error(`mailboxList failed: exit status ${listed?.exitCode}`)
  // Members make no folders among the kept messages, whose rights are those of the configuration.
  return listed.rows
    .map(({ mailbox = '' }) => mailbox)
    .filter((name) => name !== INBOX && !SHARED.test(name) && !`${name}/`.startsWith(KEPT_PREFIX))
}

interface Rights {
  user: string
  mailboxes: readonly string[]
  entries: readonly Entry[]
}

async function setRights(doveadm: Doveadm, rights: Rights): Promise<void> {
  const steps = await stepsLeft(doveadm, rights)
  if (steps.length === 0) return
  const answers = await runAll(doveadm, steps)
  const failed = answers.findIndex(({ rows }) => rows === undefined)
  if (failed >= 0) {
    throw new Error(`${steps[failed]?.[0]} failed: exit status ${answers[failed]?.exitCode}`)
  }
  if ((await stepsLeft(doveadm, rights)).length > 0) {
    throw new Error('Dovecot returns other rights than those that were set')
  }
}

async function stepsLeft(doveadm: Doveadm, rights: Rights): Promise<DoveadmCommand[]> {
  const { user, mailboxes, entries } = rights
  const answers = await runAll(
    doveadm,
    mailboxes.map((mailbox) => ['aclGet', { user, mailbox }]),
  )
  return mailboxes.flatMap((mailbox, index) => {
    const answer = answers[index]
    if (!answer?.rows && answer?.exitCode !== NOT_FOUND) {
      throw new Error(`aclGet failed: exit status ${answer?.exitCode}`)
    }
    return stepsBetween({ user, mailbox }, (answer.rows ?? []).map(readEntry), entries)
  })
}

async function runAll(doveadm: Doveadm, commands: readonly DoveadmCommand[]) {
  const answers: Awaited<ReturnType<Doveadm['run']>> = []
  for (let at = 0; at < commands.length; at += COMMANDS_AT_ONCE) {
    answers.push(...(await doveadm.run(commands.slice(at, at + COMMANDS_AT_ONCE))))
  }
  return answers
}
