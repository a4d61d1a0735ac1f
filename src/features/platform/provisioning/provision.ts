import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { type Lease, newLease } from '../../../jobs/lease.ts'
import { DoveadmAway } from '../../../mail/doveadm.ts'
import { dkimPublisher } from '../../domains/dkim/dkim.publisher.ts'
import * as provisioning from './provisioning.repository.ts'

const BATCH = 20
const LEASE_SECONDS = 60
const ATTEMPTS = 3
const PAUSE_SECONDS = 2
const AWAY_SECONDS = 2

/**
 * Prepares the mail servers for new resources: Dovecot creates the mailbox, Rspamd gets the keys of the
 * domain. Otherwise the first message would fail when the disk is full or a folder is not writable.
 */
export const provision: Chore = {
  name: 'provisioning',
  async round(core) {
    if (!core.doveadm.isConfigured && !core.signingKeys.isConfigured) return false
    const lease = newLease(LEASE_SECONDS)
    const due = await provisioning.claim(core.db, lease, BATCH)
    // At once, so that mailboxes of a host that does not respond do not delay the others.
    await Promise.all(due.map((one) => settle(core, one, lease)))
    return due.length === BATCH
  },
}

async function settle(core: Core, one: provisioning.Due, lease: Lease): Promise<void> {
  try {
    const error = await provisionOne(core, one)
    if (error === undefined) await provisioning.finish(core.db, one, lease)
    else await provisioning.fail(core.db, one, lease, error, pauseAfter(one.attempts + 1))
  } catch (error) {
    // A mail server that does not respond is no failed attempt of the entry.
    core.log.warn({ err: error }, 'provisioning waits for a mail server')
    await provisioning.postpone(core.db, one, lease, AWAY_SECONDS)
  }
}

const pauseAfter = (attempts: number) =>
  attempts >= ATTEMPTS ? undefined : PAUSE_SECONDS * 2 ** (attempts - 1)

/** Returns an error message, or undefined on success. Throws when the mail server does not respond. */
async function provisionOne(core: Core, { name, resource_type }: provisioning.Due) {
  if (name === null) return undefined
  if (resource_type === 'mailbox')
    return core.doveadm.isConfigured ? createMailbox(core, name) : undefined
  if (!core.signingKeys.isConfigured || (await dkimPublisher(core).publish(name))) return undefined
  return 'The signing keys could not be written; the log of the api service says why'
}

async function createMailbox({ doveadm }: Core, user: string): Promise<string | undefined> {
  const command = ['mailboxStatus', { user, mailboxMask: ['INBOX'], field: ['messages'] }] as const
  const [answer] = await doveadm.run([command])
  if (!answer) throw new DoveadmAway('Dovecot left a command unanswered')
  if (answer.exitCode === undefined) return undefined
  return `Dovecot could not open the mailbox (${answer.type} ${answer.exitCode}); its log says why`
}
