import type { Config } from '../../../config/index.ts'
import type { Core } from '../../../core.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { DnsUnavailable } from '../../../mail/dns.ts'
import { lookInBatches } from '../../../mail/look-in-batches.ts'
import * as certificates from '../certificates.repository.ts'
import { copyCertificates } from '../contents/contents.ts'
import type { Inventory } from '../inventory/inventory.ts'
import * as challenges from './challenges.repository.ts'
import { namesOf } from './names.ts'
import * as orders from './orders.repository.ts'

const MAX_LOOKED_UP = 500
const HISTORY_DAYS = 90

/** Orders certificates that expire soon, and those for names that have begun to point here. */
export const orderRenewals = (
  { CERT_CHECK_INTERVAL }: Pick<Config, 'CERT_CHECK_INTERVAL'>,
  inventory: Inventory,
): Job => ({
  name: 'certificates.renew',
  everySeconds: CERT_CHECK_INTERVAL,
  async run(core) {
    const { config, db, now } = core
    await copyCertificates(core)
    await inventory.refresh()
    await challenges.removeExpired(db)
    await orders.deleteBefore(db, HISTORY_DAYS)
    if (config.ACME_DIRECTORY_URL === undefined || config.ACME_EMAILS.length === 0) return
    const before = new Date(now().getTime() + config.CERT_RENEWAL_DAYS * DAY_MS)
    for (const { id } of await orders.dueForRenewal(db, before, config.SVC_MAIL_HOSTNAME)) {
      await db.transaction().execute((tx) => orders.insert(tx, id))
    }
    // Without CERT_SERVER_IPS it is unknown which domains point here; the CA would refuse the others.
    if (config.CERT_SERVER_IPS.length === 0) return
    await orderFirst(core, inventory.folder)
    await orderWider(core)
  },
})

async function orderFirst(core: Core, folder: string): Promise<void> {
  const { config, db } = core
  let left = config.CERT_WEEKLY_LIMIT - (await orders.countOfWeek(db))
  if (left <= 0) return
  const due = await orders.withoutCertificate(db, MAX_LOOKED_UP)
  await lookInBatches(due, async ({ domain, organization_id }) => {
    const names = await namesHere(core, domain)
    if (!names) return false
    if (names.length === 0 || left <= 0) return true
    left--
    await db.transaction().execute(async (tx) => {
      const id = await certificates.obtainable(tx, { domain, organization_id, folder })
      await orders.insert(tx, id)
    })
    return true
  })
}

/** Orders a certificate again once more names of its domain lead here. */
async function orderWider(core: Core): Promise<void> {
  const { config, db } = core
  let left = config.CERT_WEEKLY_LIMIT - (await orders.countOfWeek(db))
  if (left <= 0) return
  const due = await orders.orderedLongAgo(db, MAX_LOOKED_UP)
  await lookInBatches(due, async ({ id, domain, names: present }) => {
    const names = await namesHere(core, domain)
    if (!names) return false
    if (names.every((name) => present.includes(name)) || left <= 0) return true
    left--
    await db.transaction().execute((tx) => orders.insert(tx, id))
    return true
  })
}

/** The names of a domain that lead here; undefined when its DNS servers do not answer. */
async function namesHere(core: Core, domain: string): Promise<string[] | undefined> {
  try {
    return (await namesOf(core, domain)).names
  } catch (error) {
    if (error instanceof DnsUnavailable) return undefined
    throw error
  }
}
