import { setTimeout as sleep } from 'node:timers/promises'
import type { Core } from '../core.ts'
import { DoveadmAway, TEMPORARY_FAILURE } from './doveadm.ts'
import { QueueAway } from './mail-queue.ts'

const TRIES = 10
const PAUSE_MS = 1000
/** A look-up in a connected database takes some milliseconds; otherwise it waits for a connection. */
const LOOKUP_SECONDS = 2

type Needs = Pick<Core, 'config' | 'doveadm' | 'log' | 'mailQueue'>

/**
 * Makes the mail servers use the database again after it was away. Postfix does not try for a minute
 * after a failure. Dovecot waits longer after each one, and its login process may not have started.
 * `wasAway` says that the database was certainly away, and not only this process.
 */
export async function afterOutage(
  needs: Needs,
  wasAway: boolean,
  stopping: AbortSignal,
): Promise<void> {
  await Promise.all([reloadPostfix(needs), reloadDovecot(needs, wasAway, stopping)])
}

async function reloadPostfix({ log, mailQueue }: Needs): Promise<void> {
  if (!mailQueue.isConfigured) return
  try {
    await mailQueue.reload()
  } catch (error) {
    if (!(error instanceof QueueAway)) throw error
    log.warn({ err: error }, 'Postfix was not reloaded; it may defer mail for a minute')
  }
}

/**
 * After a certain outage Dovecot reloads without being asked: each kind of password has a connection
 * of its own, and a look-up of a mailbox shows only one of them. Open sessions go on.
 */
async function reloadDovecot(
  { config, doveadm, log }: Needs,
  wasAway: boolean,
  stopping: AbortSignal,
): Promise<void> {
  if (!doveadm.isConfigured) return
  const nobody = `nobody@${config.SVC_MAIL_HOSTNAME}`
  let isReloaded = !wasAway
  for (let tries = TRIES; tries > 0 && !stopping.aborted; tries--) {
    try {
      if (isReloaded && (await knows(doveadm, nobody))) return
      await doveadm.run([['reload', {}]])
      isReloaded = true
    } catch (error) {
      log.warn({ err: error }, 'Dovecot does not answer after an outage of the database')
    }
    await sleep(PAUSE_MS, undefined, { signal: stopping }).catch(() => {})
  }
}

/** Returns whether Dovecot gets an answer from the database. */
async function knows(doveadm: Needs['doveadm'], login: string): Promise<boolean> {
  const look = doveadm.run([['user', { userMask: [login] }]], LOOKUP_SECONDS)
  const [found] = await look.catch((error) => {
    if (!(error instanceof DoveadmAway)) throw error
    return []
  })
  return found !== undefined && found.exitCode !== TEMPORARY_FAILURE
}
