import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { type Lease, newLease } from '../../../jobs/lease.ts'
import type { Session } from '../../../mail/managesieve/session.ts'
import { type Forwarding, forwarding } from '../../../sieve/forwarding.ts'
import { type Vacation, vacation } from '../../../sieve/vacation.ts'
import { readComponent, runAll } from './layout.ts'
import * as pending from './script-store.repository.ts'

const AT_ONCE = 4
/** Longer than a session whose commands all time out. */
const LEASE_SECONDS = 300
const MAX_WAIT_SECONDS = 30

type Needs = Pick<Core, 'db' | 'log' | 'mailServers' | 'sieve'>

/**
 * Writes the forwarding and the automatic reply of accounts and shared mailboxes into the scripts of their
 * mailboxes. The holder's own pages write the same scripts, and copy their settings to the account.
 */
export const keepScripts: Chore = {
  name: 'mailbox-scripts',
  async round(core) {
    const { IMAP_MASTER_USER, IMAP_MASTER_PASSWORD } = core.mailServers.current()
    if (!IMAP_MASTER_USER || !IMAP_MASTER_PASSWORD) return false
    const lease = newLease(LEASE_SECONDS)
    const claimed = await pending.claim(core.db, lease, AT_ONCE)
    await Promise.all(claimed.map((one) => settle(core, one, lease)))
    return claimed.length > 0
  },
}

async function settle(core: Needs, one: pending.Pending, lease: Lease): Promise<void> {
  try {
    await apply(core, one.email)
    await pending.finish(core.db, one, lease)
  } catch (error) {
    core.log.warn(
      { err: error, attempts: one.attempts },
      'writing the scripts of a mailbox failed, will retry',
    )
    await pending.postpone(core.db, one, lease, MAX_WAIT_SECONDS)
  }
}

/** Writes only what differs, so it can be repeated after an interruption. */
async function apply({ db, sieve }: Needs, email: string): Promise<void> {
  await sieve.session(email, (session) =>
    db.transaction().execute(async (tx) => {
      const known = await pending.settingsOf(tx, email)
      if (!known) return
      await pending.lockScripts(tx, known.id)
      // Read again: an edit of the holder may have held the lock.
      const wanted = (await pending.settingsOf(tx, email)) ?? known
      const isForwardingWritten = await applyForwarding(session, {
        enabled: wanted.forward_enabled,
        addresses: addressesIn(wanted.forward_destination),
      })
      const isVacationWritten = await applyVacation(session, email, {
        enabled: wanted.vacation_enabled,
        message: wanted.vacation_message,
      })
      const isWritten = isForwardingWritten || isVacationWritten
      // Turning off needs no activation: a script of another program may be the active one.
      if (isWritten && (wanted.forward_enabled || wanted.vacation_enabled)) await runAll(session)
    }),
  )
}

async function applyForwarding(
  session: Session,
  { enabled, addresses }: Pick<Forwarding, 'enabled' | 'addresses'>,
): Promise<boolean> {
  const { settings, managed } = await readComponent(session, forwarding)
  const isSame =
    managed && settings.enabled === enabled && settings.addresses.join() === addresses.join()
  // A script of another program is replaced only to turn forwarding on.
  if (isSame || (!managed && !enabled)) return false
  await session.put(
    forwarding.name,
    forwarding.write({ enabled, addresses, keep_copy: settings.keep_copy }),
  )
  return true
}

async function applyVacation(
  session: Session,
  email: string,
  { enabled, message }: Pick<Vacation, 'enabled' | 'message'>,
): Promise<boolean> {
  const { settings, managed } = await readComponent(session, vacation)
  const isSame =
    managed && settings.enabled === enabled && (!enabled || settings.message === message)
  if (isSame || (!managed && !enabled)) return false
  // Dates and terms belong to the absence for which they were set.
  const kept = settings.enabled ? settings : { ...vacation.none, subject: settings.subject }
  const written = enabled ? { ...kept, enabled, message } : { ...settings, enabled }
  await session.put(vacation.name, vacation.write(written, email))
  return true
}

const addressesIn = (destination: string | null): string[] =>
  (destination ?? '')
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '')
