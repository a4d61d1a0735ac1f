import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { readCertificate } from '../inventory/certificate-file.ts'
import * as accounts from './accounts.repository.ts'
import { setIssued, setProblem } from './certificate.repository.ts'
import type { CertificateAuthority, Issued } from './certificate-authority.ts'
import * as challenges from './challenges.repository.ts'
import { checkIssued, writeKeyFile } from './key-file.ts'
import { namesOf } from './names.ts'
import * as orders from './orders.repository.ts'

const PURPOSE = 'account at a CA'
const POSTPONED_SECONDS = 3600
const MAX_PROBLEM = 500

/** Thrown by what is given up because the process stops. */
export class Stopped extends Error {}

/**
 * Obtains certificates that were ordered. An order belongs to whoever took it for as long as one may
 * last; what comes too late is thrown away, because somebody else may be at it.
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
      // A little longer than the attempt itself may take.
      const claimed = await orders.claim(db, count, config.CERT_ORDER_TIMEOUT + 10)
      await Promise.all(claimed.map((order) => attempt(core, ca, directoryUrl, order, stopping)))
      return claimed.length > 0
    },
  }
}

async function attempt(
  core: Core,
  ca: CertificateAuthority,
  directoryUrl: string,
  order: orders.ClaimedOrder,
  stopping: AbortSignal,
): Promise<void> {
  const { config, db, log } = core
  let account: string | undefined
  try {
    // Whoever took it before never came back, time and again.
    if (order.attempts > config.CERT_RETRY_SCHEDULE.length + 1) {
      throw new Error('it was broken off too often')
    }
    const work = async () => {
      const names = await namesOf(core, order.domain)
      if (names.length === 0) {
        throw new Error(`neither ${order.domain} nor a mail host below it leads here`)
      }
      const picked = await pickAccount(core, ca, directoryUrl)
      account = picked.id
      const issued = await ca.obtain(directoryUrl, {
        names,
        email: picked.email,
        accountKey: core.vault.open(PURPOSE, picked.account_key),
        async show(token, key_authorization) {
          // The CA knows the account by the time it asks for a proof.
          await accounts.setRegistered(db, picked.id)
          const challenge = { token, key_authorization, order_id: order.id }
          await challenges.insert(db, challenge, config.CERT_ORDER_TIMEOUT)
        },
        hide: (token) => challenges.remove(db, token),
      })
      checkIssued(issued, names)
      return issued
    }
    const issued = await within(config.CERT_ORDER_TIMEOUT, stopping, work())
    await succeed(core, order, issued, account)
    log.info({ domain: order.domain }, 'certificate obtained')
  } catch (error) {
    if (error instanceof Stopped) {
      await db.transaction().execute((tx) => orders.release(tx, order))
      return
    }
    log.warn({ err: error, domain: order.domain }, 'certificate could not be obtained')
    await fail(core, order, problemOf(error), account)
  }
}

async function pickAccount({ config, db, vault }: Core, ca: CertificateAuthority, url: string) {
  const known = await accounts.emailsAt(db, url)
  for (const email of config.ACME_EMAILS.filter((one) => !known.includes(one))) {
    await accounts.insert(db, url, email, vault.seal(PURPOSE, await ca.newAccountKey()))
  }
  return db.transaction().execute((tx) => accounts.pick(tx, url, config.ACME_EMAILS))
}

/** The file is written while nobody else can hold the order, and what is known of it commits with it. */
const succeed = (
  { db, now }: Core,
  order: orders.ClaimedOrder,
  issued: Issued,
  account: string | undefined,
) =>
  db.transaction().execute(async (tx) => {
    if (!(await orders.hold(tx, order))) return
    const found = readCertificate(Buffer.from(issued.chain))
    if (!found) throw new Error('the CA sent no certificate')
    await writeKeyFile(order.path, issued)
    await setIssued(tx, order.certificate_id, found, now())
    await orders.close(tx, order.id, 'done')
    if (account) await accounts.count(tx, account, 'success_count')
  })

const fail = (
  { config, db, now }: Core,
  order: orders.ClaimedOrder,
  problem: string,
  account: string | undefined,
) =>
  db.transaction().execute(async (tx) => {
    if (!(await orders.hold(tx, order))) return
    const wait = config.CERT_RETRY_SCHEDULE[order.attempts - 1]
    await setProblem(tx, order.certificate_id, problem, wait === undefined, now())
    if (wait === undefined) await orders.close(tx, order.id, 'failed')
    else await orders.retry(tx, order.id, wait)
    if (account) await accounts.count(tx, account, 'failure_count')
  })

/** The CA's own words, where it has said something. */
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
