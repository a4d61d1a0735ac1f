import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { DoveadmAway } from '../../../mail/doveadm.ts'
import { dkimPublisher } from '../../domains/dkim/dkim.publisher.ts'
import * as provisioning from './provisioning.repository.ts'

const BATCH = 20
const ATTEMPTS = 3
const PAUSE_SECONDS = 2

/**
 * Tells the mail servers of what is new: Dovecot makes the place of a mailbox, Rspamd gets the keys of
 * a domain. They would find both by themselves at the first message; but then it would be that message
 * that shows that the disk is full or a folder is not writable.
 */
export const provision: Chore = {
  name: 'provisioning',
  async round(core) {
    if (!core.doveadm.isConfigured && !core.signingKeys.isConfigured) return false
    const due = await provisioning.lease(core.db, BATCH)
    for (const [index, one] of due.entries()) {
      try {
        const error = await provisionOne(core, one)
        if (error === undefined) await provisioning.finish(core.db, one)
        else await provisioning.fail(core.db, one, error, pauseAfter(one.attempts + 1))
      } catch (error) {
        // Nobody there to be told: that is no failure of what was to be told.
        for (const rest of due.slice(index)) await provisioning.release(core.db, rest)
        throw error
      }
    }
    return due.length === BATCH
  },
}

const pauseAfter = (attempts: number) =>
  attempts >= ATTEMPTS ? undefined : PAUSE_SECONDS * 2 ** (attempts - 1)

/** What is wrong; undefined when all is well. Throws when the mail server is away. */
async function provisionOne(core: Core, { name, resource_type }: provisioning.Due) {
  if (name === null) return undefined
  if (resource_type === 'mailbox')
    return core.doveadm.isConfigured ? makePlace(core, name) : undefined
  if (!core.signingKeys.isConfigured || (await dkimPublisher(core).publish(name))) return undefined
  return 'The signing keys could not be written; the log of the api service says why'
}

async function makePlace({ doveadm }: Core, user: string): Promise<string | undefined> {
  const command = ['mailboxStatus', { user, mailboxMask: ['INBOX'], field: ['messages'] }] as const
  const [answer] = await doveadm.run([command])
  if (!answer) throw new DoveadmAway('Dovecot left a command unanswered')
  if (answer.exitCode === undefined) return undefined
  return `Dovecot could not open the mailbox (${answer.type} ${answer.exitCode}); its log says why`
}
