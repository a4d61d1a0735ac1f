import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { type Lease, newLease } from '../../../jobs/lease.ts'
import { DoveadmAway, type DoveadmCommand, NO_SUCH_USER, NOT_FOUND } from '../../../mail/doveadm.ts'
import { endSessions } from '../../../mail/end-sessions.ts'
import { KEPT_PREFIX } from '../../../mail/kept-folders.ts'
import { SHARED } from '../../../mail/own-folders.ts'
import * as pending from './acl.repository.ts'
import { type Entry, entryOf, INBOX, losersOf, readEntry, stepsBetween } from './acl-rights.ts'

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
    await reconcile(core, one, lease)
    await pending.finish(core.db, one, lease)
  } catch (error) {
    core.log.warn(
      { err: error, attempts: one.attempts },
      'setting the rights of a shared mailbox failed, will retry',
    )
    // A host that does not respond delays only its own mailboxes.
    const longest = error instanceof DoveadmAway ? AWAY_SECONDS : MAX_WAIT_SECONDS
    await pending.postpone(core.db, one, lease, longest)
  }
}

/** Reads the current rights first, so it can be repeated after an interruption. */
async function reconcile(core: Needs, one: pending.Pending, lease: Lease): Promise<void> {
  const { authCache, db, doveadm } = core
  const { email } = one
  const losing = new Set(one.losing)
  const beforeLoss = async (members: readonly string[]) => {
    if (members.every((member) => losing.has(member))) return
    for (const member of members) losing.add(member)
    await pending.setLosing(db, email, [...losing], lease)
  }
  const target = await pending.targetState(db, email)
  // Dovecot finds the mail of a deleted mailbox by another login; sessions may still have it open.
  for (const user of target.deletedLogins) {
    await setRightsOf(doveadm, { user, entries: [], beforeLoss })
  }
  // A personal mailbox that now has the address may share folders, so leave its rights alone.
  if (!target.isPersonal) {
    const entries = target.members.map((member) => entryOf(member, target.isKept))
    const isKnown = await setRightsOf(doveadm, { user: email, entries, beforeLoss })
    if (!isKnown && target.isHosted && entries.length > 0) {
      throw new Error('Dovecot knows no such mailbox')
    }
    // Dovecot caches the mail location, which must not outlive the shared mailbox.
    if (!target.isShared) await authCache.flush([email])
  }
  // A session reads rights when it opens a folder, and caches them. One that begins from here on reads
  // the new rights, and Dovecot knows a session before it reads any: those with old rights are ended.
  const left = await endSessions(doveadm, [...losing])
  if (left.length === 0) return
  await pending.setLosing(db, email, left, lease)
  throw new DoveadmAway('Dovecot did not end the sessions of members who lost rights')
}

interface Target {
  user: string
  entries: readonly Entry[]
  /** Called with the members who are about to lose rights. */
  beforeLoss(members: readonly string[]): Promise<void>
}

/** Sets the rights of a mailbox; false when Dovecot does not know it. */
async function setRightsOf(doveadm: Doveadm, target: Target): Promise<boolean> {
  const { entries } = target
  const folders = await foldersOf(doveadm, target.user)
  if (!folders) return false
  // Apart and first: folders without rights of their own follow the inbox.
  await setRights(doveadm, target, { mailboxes: [INBOX], entries })
  // Dovecot copies the rights of the day to a folder that a member makes, where they would outlive
  // the membership.
  await setRights(doveadm, target, { mailboxes: folders, entries: [] })
  return true
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
  mailboxes: readonly string[]
  entries: readonly Entry[]
}

async function setRights(doveadm: Doveadm, target: Target, rights: Rights): Promise<void> {
  const { losing, steps } = await changesLeft(doveadm, target, rights)
  if (steps.length === 0) return
  await target.beforeLoss(losing)
  const answers = await runAll(doveadm, steps)
  const failed = answers.findIndex(({ rows }) => rows === undefined)
  if (failed >= 0) {
    throw new Error(`${steps[failed]?.[0]} failed: exit status ${answers[failed]?.exitCode}`)
  }
  if ((await changesLeft(doveadm, target, rights)).steps.length > 0) {
    throw new Error('Dovecot returns other rights than those that were set')
  }
}

/** The commands that are still needed, and the members who lose rights by them. */
async function changesLeft(doveadm: Doveadm, target: Target, { mailboxes, entries }: Rights) {
  const { user } = target
  const answers = await runAll(
    doveadm,
    mailboxes.map((mailbox) => ['aclGet', { user, mailbox }]),
  )
  const currents = answers.map((answer) => {
    if (!answer.rows && answer.exitCode !== NOT_FOUND) {
      throw new Error(`aclGet failed: exit status ${answer.exitCode}`)
    }
    return (answer.rows ?? []).map(readEntry)
  })
  return {
    steps: mailboxes.flatMap((mailbox, at) =>
      stepsBetween({ user, mailbox }, currents[at] ?? [], entries),
    ),
    // Every folder has the rights of the inbox in the end.
    losing: currents.flatMap((current) => losersOf(current, target.entries)),
  }
}

async function runAll(doveadm: Doveadm, commands: readonly DoveadmCommand[]) {
  const answers: Awaited<ReturnType<Doveadm['run']>> = []
  for (let at = 0; at < commands.length; at += COMMANDS_AT_ONCE) {
    answers.push(...(await doveadm.run(commands.slice(at, at + COMMANDS_AT_ONCE))))
  }
  return answers
}
