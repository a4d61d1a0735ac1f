import { setTimeout as sleep } from 'node:timers/promises'
import { type Doveadm, DoveadmAway, type DoveadmCommand } from '../../../../mail/doveadm.ts'
import { endSessions } from '../../../../mail/end-sessions.ts'
import { KEPT_FOLDERS, KEPT_PREFIX } from '../../../../mail/kept-folders.ts'
import type { DovecotHost } from '../../../../mail/mail-hosts.ts'
import { ownFolders } from '../../../../mail/own-folders.ts'

/** Exit status of a copy while the mailbox changed; the next one has the rest. */
const CHANGED_MEANWHILE = 2
const LAST_COPIES = ['sync', 'sync', 'backup'] as const
/** A copy gives up waiting for another one before its request ends, so that no copy begins unnoticed. */
const LOCK_MARGIN_SECONDS = 5
const PAUSE_MS = 50

/** A mailbox and its two hosts. */
export interface Copying {
  login: string
  from: Doveadm
  to: Doveadm
  target: DovecotHost
}

/** Time for several commands. A command that is not answered by then ends with an error. */
export interface Deadline {
  readonly seconds: number
  /** Seconds that are left, at least one. */
  left(): number
  isOver(): boolean
}

export function deadlineIn(seconds: number): Deadline {
  const end = performance.now() + seconds * 1000
  const left = () => Math.ceil((end - performance.now()) / 1000)
  return { seconds, left: () => Math.max(1, left()), isOver: () => left() <= 0 }
}

/** Seconds that a copy waits for another copy of the mailbox that Dovecot has not finished. */
export const lockSeconds = (deadline: Deadline): number =>
  Math.max(1, deadline.left() - LOCK_MARGIN_SECONDS)

/**
 * Copies the mailbox with its filters and kept messages. `sync` adds what is new, also to an inbox that Dovecot
 * has just made on the other host; `backup` makes both equal and refuses such an inbox. Returns false when
 * the mailbox changed meanwhile.
 */
export async function copy(
  { from, login, target }: Copying,
  command: 'sync' | 'backup',
  deadline: Deadline,
): Promise<boolean> {
  const scheme = target.address.startsWith('127.') ? 'tcp' : 'tcps'
  const [answer] = await run(from, deadline, [
    command,
    {
      user: login,
      ...(command === 'sync' && { onewaySync: true }),
      namespace: ['', KEPT_PREFIX],
      lockTimeout: lockSeconds(deadline),
      destination: [`${scheme}:${target.address}:${target.sync_port}`],
    },
  ])
  if (answer?.rows) return true
  if (answer?.exitCode === CHANGED_MEANWHILE) return false
  throw new Error(`Dovecot could not copy the mailbox: exit status ${answer?.exitCode}`)
}

/**
 * Copies what is new in a locked mailbox; returns the number of messages, which is the same on both hosts.
 * All messages of the mailbox are in the copy then, so the copy has nothing else; `backup` removes what was
 * expunged since the first copy.
 */
export async function copyRest(
  copying: Copying,
  deadline: Deadline,
  lost: AbortSignal,
): Promise<number> {
  const { from, to, login } = copying
  for (const command of LAST_COPIES) {
    await endAllSessions(copying, deadline, lost)
    if (!(await copy(copying, command, deadline))) continue
    // A delivery that was accepted just before the lock is counted now, or is still under way.
    if ((await sessionsOf(from, login, deadline)).length > 0) continue
    const [here, there] = await Promise.all(
      [from, to].map((one) => countsIn(within(one, deadline), login)),
    )
    if (here && here.list === there?.list) return here.messages
  }
  throw new Error('the copy differs from the mailbox')
}

/** Waits until no session and no delivery uses the locked mailbox; new ones are refused. */
async function endAllSessions(
  { from, login }: Copying,
  deadline: Deadline,
  lost: AbortSignal,
): Promise<void> {
  for (;;) {
    const sessions = await sessionsOf(from, login, deadline)
    if (sessions.length === 0) return
    // Deliveries are not ended; they come to their end.
    const left = await endSessions(within(from, deadline), [login])
    if (left.length > 0) throw new Error('Dovecot did not end sessions')
    if (deadline.isOver()) throw new Error('sessions or deliveries do not end')
    await sleep(PAUSE_MS)
    lost.throwIfAborted()
  }
}

/**
 * Lists the sessions and deliveries of a mailbox. Flushes its login each time: a look-up that began before the
 * lock may enter the cache after a flush, and would let deliveries in for an hour.
 */
async function sessionsOf(from: Doveadm, login: string, deadline: Deadline) {
  const [flushed, there] = await run(
    from,
    deadline,
    ['authCacheFlush', { user: [login] }],
    ['who', { mask: [login] }],
  )
  if (!flushed?.rows) throw new Error(`Dovecot did not flush a login: ${flushed?.exitCode}`)
  if (!there?.rows) throw new Error(`Dovecot does not list sessions: ${there?.exitCode}`)
  return there.rows
}

async function countsIn(host: Doveadm, user: string) {
  const folders = await ownFolders(host, user, ['*', KEPT_FOLDERS])
  const list = JSON.stringify(folders.map(({ name, messages }) => [name, messages]).sort())
  return { list, messages: folders.reduce((sum, { messages }) => sum + messages, 0) }
}

const within = (host: Doveadm, deadline: Deadline): Doveadm => ({
  isConfigured: host.isConfigured,
  run: (commands) => run(host, deadline, ...commands),
})

/** A command that takes too long is no sign that Dovecot is away. */
async function run(host: Doveadm, deadline: Deadline, ...commands: DoveadmCommand[]) {
  try {
    return await host.run(commands, deadline.left())
  } catch (error) {
    if (!(error instanceof DoveadmAway) || !deadline.isOver()) throw error
    throw new Error(`copying took longer than ${deadline.seconds} seconds`, { cause: error })
  }
}
