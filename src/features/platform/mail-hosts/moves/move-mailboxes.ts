import { setTimeout as sleep } from 'node:timers/promises'
import type { Core } from '../../../../core.ts'
import type { Chore } from '../../../../jobs/chores.ts'
import { type Lease, LeaseLost, newLease, underLease } from '../../../../jobs/lease.ts'
import { authCache } from '../../../../mail/auth-cache.ts'
import { DoveadmAway } from '../../../../mail/doveadm.ts'
import { type DovecotHost, doveadmOf, dovecotHosts } from '../../../../mail/mail-hosts.ts'
import { removeHome } from '../../../../mail/remove-mail.ts'
import { type Copying, copy, copyRest, deadlineIn, lockSeconds } from './copy-mailbox.ts'
import { MailboxMoved, MailboxMoveFailed } from './moves.events.ts'
import * as moves from './moves.repository.ts'

/** A process moves so many mailboxes at once. */
const AT_ONCE = 4
/** A locked mailbox waits so long after a crash of the process that moved it. */
const LEASE_SECONDS = 15
const ATTEMPTS = 10
const MAX_PAUSE_SECONDS = 300
const AWAY_PAUSE_SECONDS = 10
/** Dovecot goes on with a longer copy, and the next attempt waits for it. */
const COPY_SECONDS = 280
/** A mailbox is locked no longer than this at the first attempt, and so much longer at each further one. */
const LOCKED_SECONDS = 30
const LOOK_MS = 1000

/**
 * Moves mailboxes between hosts: copy while the mailbox is in use, lock it, copy the rest, compare, switch,
 * and notify the hosts. Each step can be repeated, so another process continues after a crash. Each step has
 * a deadline, after which the mailbox is unlocked and the move begins again after a pause.
 */
export const moveMailboxes: Chore = {
  name: 'mailbox-moves',
  isPatient: true,
  async round(core) {
    const work = { underWay: 0 }
    const lanes = Array.from({ length: AT_ONCE }, () => moveUntilNone(core, work))
    const failed = (await Promise.allSettled(lanes)).find((one) => one.status === 'rejected')
    if (failed) throw failed.reason
    return false
  },
}

/** Looks for more as long as another move is under way: a slow one must not hold up new ones. */
async function moveUntilNone(core: Core, work: { underWay: number }): Promise<void> {
  while (!core.stopping.aborted) {
    const lease = newLease(LEASE_SECONDS)
    const move = await moves.claim(core.db, lease)
    if (!move) {
      if (work.underWay === 0) return
      await sleep(LOOK_MS)
      continue
    }
    work.underWay++
    try {
      await moveUnderLease(core, move, lease)
    } finally {
      work.underWay--
    }
  }
}

const moveUnderLease = (core: Core, move: moves.Claimed, lease: Lease) =>
  underLease(core, 'mailbox_moves', { id: move.id }, lease, async (lost) => {
    try {
      await moveOne(core, move, lease, lost)
    } catch (error) {
      if (error instanceof LeaseLost) return
      await giveUpOrWait(core, move, lease, error as Error)
    }
  })

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
  const copying = { login, from: doveadmOf(source, vault), to: doveadmOf(target, vault), target }
  if (move.state !== 'switched') {
    const away = [source, target].find(({ isAway }) => isAway)
    if (away) throw new DoveadmAway(`the mail host ${away.name} is away`)
  }
  if (move.state === 'waiting') {
    if (!(await moves.beginCopy(db, move, lease))) return
    move.state = 'copying'
  }
  if (move.state === 'copying') {
    await copyInUse(core, move, copying, lost)
    lost.throwIfAborted()
    if (!(await moves.lockMailbox(db, move, lease))) return
    move.state = 'locked'
  }
  if (move.state === 'locked') {
    const deadline = deadlineIn(LOCKED_SECONDS * (move.attempts + 1))
    const messages = await copyRest(copying, deadline, lost)
    lost.throwIfAborted()
    const data = { move_id: move.id, mailbox_id: move.mailbox_id, ...namesOf(hosts), messages }
    const keepHours = core.config.MAIL_MOVE_KEEP_HOURS
    const isSwitched = await db.transaction().execute(async (tx) => {
      if (!(await moves.switchHost(tx, move, lease, { messages, keepHours }))) return false
      await core.events.emit(tx, MailboxMoved, { org_id: null }, data)
      return true
    })
    if (!isSwitched) return
    move.state = 'switched'
  }
  await flushEverywhere(core, source, copying)
  await moves.finish(db, move, lease)
}

const namesOf = ({ source, target }: Hosts) => ({ source: source.name, target: target.name })

/** Copies the mailbox while it is in use. */
async function copyInUse(core: Core, move: moves.Claimed, copying: Copying, lost: AbortSignal) {
  const deadline = deadlineIn(COPY_SECONDS)
  const isBusyBy = performance.now() + lockSeconds(deadline) * 1000
  try {
    await copy(copying, 'sync', deadline)
  } catch (error) {
    // An earlier copy may still be under way; the next attempt waits for it again.
    if (error instanceof DoveadmAway || performance.now() > isBusyBy) throw error
    lost.throwIfAborted()
    core.log.warn(
      { err: error, move: move.id },
      'copying a mailbox failed, begins with an empty copy',
    )
    // Files of an earlier copy may not fit any more.
    const place = { mailbox_id: move.mailbox_id, host_id: copying.target.id }
    await moves.onForeignCopy(core.db, place, () =>
      removeHome(copying.to, copying.login, move.mailbox_id),
    )
    await copy(copying, 'sync', deadline)
  }
}

/**
 * The proxies know the old host, and the new one has looked up the mailbox as one of another host. The old one
 * may have cached a look-up that began before the lock.
 */
async function flushEverywhere(core: Core, source: DovecotHost, { from, login }: Copying) {
  const flushed = await Promise.all([
    core.authCache.flush([login]),
    // A host that is away has no logins in its cache when it comes back.
    source.isAway || authCache(from, core.log).flush([login]),
  ])
  if (!flushed.every(Boolean)) {
    throw new DoveadmAway('not every mail host has forgotten the old place of the mailbox')
  }
}

/** A host that is away is no failed attempt. After the switch there is no way back. */
async function giveUpOrWait(core: Core, move: moves.Claimed, lease: Lease, problem: Error) {
  const isAway = problem instanceof DoveadmAway
  const isSwitched = move.state === 'switched'
  const error = problem.message
  core.log.warn({ err: problem, move: move.id }, 'moving a mailbox failed, will retry')
  if (!isAway && !isSwitched && move.attempts + 1 >= ATTEMPTS) {
    const data = {
      move_id: move.id,
      mailbox_id: move.mailbox_id,
      ...namesOf(await hostsOf(core, move)),
      error,
    }
    return core.db.transaction().execute(async (tx) => {
      if (!(await moves.fail(tx, move, lease, error))) return
      await core.events.emit(tx, MailboxMoveFailed, { org_id: null }, data)
    })
  }
  const growing = 2 ** Math.min(move.attempts, 10)
  if (isSwitched) {
    const seconds = Math.min(AWAY_PAUSE_SECONDS, growing)
    return moves.postpone(core.db, move, lease, { error, seconds, isAttempt: true })
  }
  const seconds = isAway ? AWAY_PAUSE_SECONDS : Math.min(MAX_PAUSE_SECONDS, growing)
  await moves.postpone(core.db, move, lease, { error, seconds, isAttempt: !isAway })
  if (isAway) await moves.postponeOthers(core.db, move, seconds)
}
