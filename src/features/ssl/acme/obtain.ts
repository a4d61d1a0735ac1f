import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { type Lease, newLease } from '../../../jobs/lease.ts'
import { HOUR_SECONDS } from '../../../lib/time.ts'
import { sealContent, writeCopy } from '../contents/contents.ts'
import { checkIssued, pemOf } from '../contents/issued.ts'
import { readCertificate } from '../inventory/certificate-file.ts'
import * as accounts from './accounts.repository.ts'
import { setIssued, setProblem } from './certificate.repository.ts'
import type { CertificateAuthority, Issued } from './certificate-authority.ts'
import * as challenges from './challenges.repository.ts'
import { addRecord, removeRecord } from './dns-hook.ts'
import { keyForOrder, nextKeyAfter } from './host-key.ts'
import { namesOf } from './names.ts'
import * as orders from './orders.repository.ts'

const PURPOSE = 'account at a CA'
const POSTPONED_SECONDS = HOUR_SECONDS
const SPARE_SECONDS = 10
const MAX_PROBLEM = 500

/** The attempt was interrupted because the process stops. */
export class Stopped extends Error {}

/**
 * Obtains certificates that were ordered. The lease lasts a little longer than an attempt may take, so
 * it is not renewed; the result of an attempt that lost its lease is discarded.
 */
export function obtainCertificates(ca: CertificateAuthority, stopping: AbortSignal): Chore {
  return {
    name: 'certificates',
    async round(core) {
      const { config, db } = core
      const directoryUrl = config.ACME_DIRECTORY_URL
      if (directoryUrl === undefined || config.ACME_EMAILS.length === 0) return false
      const left = config.CERT_WEEKLY_LIMIT - (await orders.countOfWeek(db))
      if (left <= 0) {
        const why = `${config.CERT_WEEKLY_LIMIT} certificates were ordered in seven days (CERT_WEEKLY_LIMIT); this one waits`
        await orders.postpone(db, POSTPONED_SECONDS, why)
        return false
      }
      const count = Math.min(left, config.CERT_WORKER_THREADS)
      const lease = newLease(config.CERT_ORDER_TIMEOUT + SPARE_SECONDS)
      const claimed = await orders.claim(db, lease, count)
      await Promise.all(
        claimed.map((order) => attempt({ core, ca, directoryUrl, stopping, lease }, order)),
      )
      return claimed.length > 0
    },
  }
}

interface Round {
  core: Core
  ca: CertificateAuthority
  directoryUrl: string
  stopping: AbortSignal
  lease: Lease
}

async function attempt(round: Round, order: orders.ClaimedOrder): Promise<void> {
  const { core, ca, directoryUrl, stopping, lease } = round
  const { config, db, log } = core
  let account: string | undefined
  try {
    // A failed attempt is recorded, so all earlier attempts must have crashed.
    if (order.attempts > config.CERT_RETRY_SCHEDULE.length + 1) {
      throw new Error('every attempt was interrupted by a crash')
    }
    const work = async () => {
      const { names, records } = await namesOf(core, order.domain)
      if (names.length === 0) {
        throw new Error(`neither ${order.domain} nor a mail host below it leads here`)
      }
      const picked = await pickAccount(core, ca, directoryUrl)
      account = picked.id
      const issued = await ca.obtain(directoryUrl, {
        names,
        email: picked.email,
        accountKey: core.vault.open(PURPOSE, picked.account_key),
        key: keyForOrder(core, order),
        byDns: new Set(records.keys()),
        async show({ name, token, answer }) {
          // The CA sends a challenge only after the account is registered.
          await accounts.setRegistered(db, picked.id)
          const record = records.get(name)
          if (record !== undefined) return addRecord(core, record, answer)
          const challenge = { token, key_authorization: answer, order_id: order.id }
          await challenges.insert(db, challenge, config.CERT_ORDER_TIMEOUT)
        },
        async hide({ name, token, answer }) {
          const record = records.get(name)
          if (record === undefined) return challenges.remove(db, token)
          await removeRecord(core, record, answer).catch((error) =>
            log.warn({ err: error, record }, 'removing a challenge from DNS failed'),
          )
        },
      })
      checkIssued(issued, names)
      return issued
    }
    const issued = await within(config.CERT_ORDER_TIMEOUT, stopping, work())
    await succeed(core, order, lease, issued, account)
    log.info({ domain: order.domain }, 'certificate obtained')
  } catch (error) {
    if (error instanceof Stopped) {
      await db.transaction().execute((tx) => orders.release(tx, order, lease))
      return
    }
    log.warn({ err: error, domain: order.domain }, 'obtaining a certificate failed')
    await fail(core, order, lease, problemOf(error), account)
  }
}

async function pickAccount({ config, db, vault }: Core, ca: CertificateAuthority, url: string) {
  const existing = await accounts.emailsAt(db, url)
  for (const email of config.ACME_EMAILS.filter((one) => !existing.includes(one))) {
    await accounts.insert(db, url, email, vault.seal(PURPOSE, await ca.newAccountKey()))
  }
  return db.transaction().execute((tx) => accounts.pick(tx, url, config.ACME_EMAILS))
}

async function succeed(
  core: Core,
  order: orders.ClaimedOrder,
  lease: Lease,
  issued: Issued,
  account: string | undefined,
): Promise<void> {
  const pem = pemOf(issued)
  const certificate = readCertificate(Buffer.from(issued.chain))
  if (!certificate) throw new Error('the CA sent no certificate')
  const isStored = await core.db.transaction().execute(async (tx) => {
    if (!(await orders.hold(tx, order, lease))) return false
    await setIssued(tx, order.certificate_id, certificate, {
      content: sealContent(core.vault, pem),
      nextKey: nextKeyAfter(core, order, issued.key),
      now: core.now(),
    })
    await orders.close(tx, order.id, 'done')
    if (account) await accounts.count(tx, account, 'success_count')
    return true
  })
  // Other machines copy it from the database, and so does this one if it is killed here.
  if (isStored) await writeCopy(core.config, order.domain, pem)
}

const fail = (
  { config, db, now }: Core,
  order: orders.ClaimedOrder,
  lease: Lease,
  problem: string,
  account: string | undefined,
) =>
  db.transaction().execute(async (tx) => {
    if (!(await orders.hold(tx, order, lease))) return
    const wait = config.CERT_RETRY_SCHEDULE[order.attempts - 1]
    await setProblem(tx, order.certificate_id, problem, wait === undefined, now())
    if (wait === undefined) await orders.close(tx, order.id, 'failed')
    else await orders.retry(tx, order.id, wait)
    if (account) await accounts.count(tx, account, 'failure_count')
  })

/** The message of the CA as one line. */
function problemOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text
    .toWellFormed()
    .replace(/[\x00-\x1f\x7f]+/g, ' ')
    .slice(0, MAX_PROBLEM)
}

function within<Result>(
  seconds: number,
  stopping: AbortSignal,
  work: Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`the CA was not done within ${seconds} seconds`)),
      seconds * 1000,
    )
    const stop = () => reject(new Stopped())
    if (stopping.aborted) stop()
    stopping.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => {
      clearTimeout(late)
      stopping.removeEventListener('abort', stop)
    })
  })
}
