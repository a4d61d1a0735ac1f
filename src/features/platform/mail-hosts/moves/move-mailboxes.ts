import { setTimeout as sleep } from 'node:timers/promises'
import type { Core } from '../../../../core.ts'
import type { Chore } from '../../../../jobs/chores.ts'
import { type Lease, LeaseLost, newLease, underLease } from '../../../../jobs/lease.ts'
import {
  type Doveadm,
  DoveadmAway,
  type DoveadmCommand,
  NO_SUCH_USER,
  NOT_FOUND,
} from '../../../../mail/doveadm.ts'
import { KEPT_FOLDERS, KEPT_PREFIX } from '../../../../mail/kept-folders.ts'
import { type DovecotHost, doveadmOf, dovecotHosts } from '../../../../mail/mail-hosts.ts'
import { ownFolders } from '../../../../mail/own-folders.ts'
import { removeHome } from '../../../../mail/remove-mail.ts'
import { MailboxMoved, MailboxMoveFailed } from './moves.events.ts'
import * as moves from './moves.repository.ts'

/** A process moves so many mailboxes at once. */
const AT_ONCE = 4
const LEASE_SECONDS = 30
const ATTEMPTS = 10
const MAX_PAUSE_SECONDS = 300
const AWAY_PAUSE_SECONDS = 30
/** A longer copy continues in the next attempt. */
const COPY_SECONDS = 280
/** Dovecot may still be at the copy that a killed process began. */
const LOCK_SECONDS = 60
/** Exit status of a copy while the mailbox changed; the next one has the rest. */
const CHANGED_MEANWHILE = 2
const LAST_COPIES = ['sync', 'sync', 'backup'] as const
const SESSIONS_END_MS = 20_000
const PAUSE_MS = 50

/**
 * Moves mailboxes between hosts: copy while the mailbox is in use, lock it, copy the rest, compare, switch,
 * and notify the hosts. Each step can be repeated, so another process continues after a crash.
 */
export const moveMailboxes: Chore = {
  name: 'mailbox-moves',
  isPatient: true,
  async round(core) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => moveUntilNone(core)))
    return false
  },
}

async function moveUntilNone(core: Core): Promise<void> {
  while (!core.stopping.aborted) {
    const lease = newLease(LEASE_SECONDS)
    const move = await moves.claim(core.db, lease)
    if (!move) return
    await underLease(core, 'mailbox_moves', { id: move.id }, lease, async (lost) => {
      try {
        await moveOne(core, move, lease, lost)
      } catch (error) {
        if (error instanceof LeaseLost) return
        await giveUpOrWait(core, move, lease, error as Error)
      }
    })
  }
}

interface Hosts {
  source: DovecotHost
  target: DovecotHost
}

async function hostsOf(core: Core, move: moves.Claimed): Promise<Hosts> {
  const all = await dovecotHosts(core.db)
  const [source, target] = [move.source_id, move.target_id].map((id) =>
    all.find((host) => host.id === id),
  )
  if (!source || !target) throw new Error('a mail host of the move is gone')
  return { source, target }
}

async function moveOne(core: Core, move: moves.Claimed, lease: Lease, lost: AbortSignal) {
  const { db, vault } = core
  const { login } = move
  if (login === null) return moves.finish(db, move, lease)
  const hosts = await hostsOf(core, move)
  const { source, target } = hosts
  const from = doveadmOf(source, vault)
  let { state } = move
  if (state !== 'switched') {
    const away = [source, target].find(({ isAway }) => isAway)
    if (away) throw new DoveadmAway(`the mail host ${away.name} is away`)
  }
  if (state === 'waiting') {
    if (!(await moves.beginCopy(db, move, lease))) return
    state = 'copying'
  }
  if (state === 'copying') {
    await copy(from, login, target, 'sync').catch((error) =>
      copyAnew(core, { move, login, from, target, lost }, error),
    )
    lost.throwIfAborted()
    if (!(await moves.lockMailbox(db, move, lease))) return
    state = 'locked'
  }
  if (state === 'locked') {
    await endSessions(from, login, lost)
    const messages = await copyRest(from, doveadmOf(target, vault), login, target)
    lost.throwIfAborted()
    const data = { move_id: move.id, mailbox_id: move.mailbox_id, ...namesOf(hosts), messages }
    const keepHours = core.config.MAIL_MOVE_KEEP_HOURS
    const isSwitched = await db.transaction().execute(async (tx) => {
      if (!(await moves.switchHost(tx, move, lease, { messages, keepHours }))) return false
      await core.events.emit(tx, MailboxMoved, { org_id: null }, data)
      return true
    })
    if (!isSwitched) return
  }
  // The new host has looked up the mailbox as one of another host, and the proxies know the old host.
  if (!(await core.authCache.flush([login]))) {
    throw new DoveadmAway('not every mail host has forgotten the old place of the mailbox')
  }
  await moves.finish(db, move, lease)
}

const namesOf = ({ source, target }: Hosts) => ({ source: source.name, target: target.name })

/**
 * Copies the mailbox with its filters and kept messages. `sync` adds what is new, also to an inbox that Dovecot
 * has just made on the other host; `backup` makes both equal and refuses such an inbox.
 */
async function copy(
  from: Doveadm,
  user: string,
  target: DovecotHost,
  command: 'sync' | 'backup',
): Promise<boolean> {
  const scheme = target.address.startsWith('127.') ? 'tcp' : 'tcps'
  const answer = await run(from, command, {
    user,
    ...(command === 'sync' && { onewaySync: true }),
    namespace: ['', KEPT_PREFIX],
    lockTimeout: LOCK_SECONDS,
    destination: [`${scheme}:${target.address}:${target.sync_port}`],
  })
  if (answer.rows) return true
  if (answer.exitCode === CHANGED_MEANWHILE) return false
  throw new Error(`Dovecot could not copy the mailbox: exit status ${answer.exitCode}`)
}

interface Copying {
  move: moves.Claimed
  login: string
  from: Doveadm
  target: DovecotHost
  lost: AbortSignal
}

/**
 * Begins with an empty copy: what is left of an earlier one may not fit any more.
 */
async function copyAnew(core: Core, copying: Copying, error: Error): Promise<void> {
  const { move, login, from, target, lost } = copying
  if (error instanceof DoveadmAway) throw error
  lost.throwIfAborted()
  core.log.warn(
    { err: error, move: move.id },
    'copying a mailbox failed, begins with an empty copy',
  )
  const { mailbox_id } = move
  await moves.onForeignCopy(core.db, { mailbox_id, host_id: target.id }, () =>
    removeHome(doveadmOf(target, core.vault), login, mailbox_id),
  )
  await copy(from, login, target, 'sync')
}

/**
 * Waits until no session and no delivery uses the mailbox. New ones are refused: Dovecot looks the mailbox
 * up again after the flush, and finds it locked.
 */
async function endSessions(from: Doveadm, user: string, lost: AbortSignal): Promise<void> {
  const flushed = await run(from, 'authCacheFlush', { user: [user] })
  if (!flushed.rows) throw new Error(`Dovecot did not flush a login: ${flushed.exitCode}`)
  const isNone = new Set<number | undefined>([NOT_FOUND, NO_SUCH_USER])
  const end = Date.now() + SESSIONS_END_MS
  for (;;) {
    const there = await run(from, 'who', { mask: [user] })
    if (!there.rows) throw new Error(`Dovecot does not list sessions: ${there.exitCode}`)
    if (there.rows.length === 0) return
    // A delivery ends by itself. Ended from outside it may be repeated although its mail is stored.
    if (!there.rows.some(({ service }) => service === 'lmtp')) {
      const kicked = await run(from, 'kick', { mask: [user] })
      if (!kicked.rows && !isNone.has(kicked.exitCode)) {
        throw new Error(`Dovecot did not end sessions: exit status ${kicked.exitCode}`)
      }
    }
    if (Date.now() > end) throw new Error('sessions or deliveries do not end')
    await sleep(PAUSE_MS, undefined, { signal: lost })
  }
}

/**
 * Returns the number of messages, which is the same on both hosts. All messages of the mailbox are in the copy,
 * so the copy has nothing else; `backup` removes what was expunged since the first copy.
 */
async function copyRest(from: Doveadm, to: Doveadm, user: string, target: DovecotHost) {
  for (const command of LAST_COPIES) {
    if (!(await copy(from, user, target, command))) continue
    const [here, there] = await Promise.all([from, to].map((one) => countsIn(one, user)))
    if (here && here.list === there?.list) return here.messages
  }
  throw new Error('the copy differs from the mailbox')
}

async function countsIn(host: Doveadm, user: string) {
  const folders = await ownFolders(host, user, ['*', KEPT_FOLDERS])
  const list = JSON.stringify(folders.map(({ name, messages }) => [name, messages]).sort())
  return { list, messages: folders.reduce((sum, { messages }) => sum + messages, 0) }
}

async function run(host: Doveadm, ...command: DoveadmCommand) {
  const [answer] = await host.run([command], COPY_SECONDS)
  if (!answer) throw new DoveadmAway(`Dovecot left ${command[0]} unanswered`)
  return answer
}

/** A host that is away is no failed attempt. After the switch there is no way back. */
async function giveUpOrWait(core: Core, move: moves.Claimed, lease: Lease, problem: Error) {
  const isAway = problem instanceof DoveadmAway
  const error = problem.message
  core.log.warn({ err: problem, move: move.id }, 'moving a mailbox failed, will retry')
  if (!isAway && move.attempts + 1 >= ATTEMPTS) {
    const data = {
      move_id: move.id,
      mailbox_id: move.mailbox_id,
      ...namesOf(await hostsOf(core, move)),
      error,
    }
    const isFailed = await core.db.transaction().execute(async (tx) => {
      if (!(await moves.fail(tx, move, lease, error))) return false
      await core.events.emit(tx, MailboxMoveFailed, { org_id: null }, data)
      return true
    })
    if (isFailed) return
  }
  const seconds = isAway
    ? AWAY_PAUSE_SECONDS
    : Math.min(MAX_PAUSE_SECONDS, 2 ** Math.min(move.attempts, 10))
  await moves.postpone(core.db, move, lease, { error, seconds, isAttempt: !isAway })
}
