import type { Config } from '../../../config.ts'
import type { Core } from '../../../core.ts'
import type { Job } from '../../../jobs/jobs.ts'
import * as certificates from '../certificates.repository.ts'
import type { Inventory } from '../inventory/inventory.ts'
import { fileOf } from '../inventory/places.ts'
import * as challenges from './challenges.repository.ts'
import { namesOf } from './names.ts'
import * as orders from './orders.repository.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const MAX_LOOKED_UP = 500
const HISTORY_DAYS = 90

/** Orders what ends soon, and first certificates for domains that lead here. */
export const orderRenewals = (
  { CERT_CHECK_INTERVAL }: Pick<Config, 'CERT_CHECK_INTERVAL'>,
  inventory: Inventory,
): Job => ({
  name: 'certificates.renew',
  everySeconds: CERT_CHECK_INTERVAL,
  async run(core) {
    const { config, db, now } = core
    await inventory.refresh()
    await challenges.removeExpired(db)
    await orders.deleteBefore(db, HISTORY_DAYS)
    if (config.ACME_DIRECTORY_URL === undefined || config.ACME_EMAILS.length === 0) return
    const before = new Date(now().getTime() + config.CERT_RENEWAL_DAYS * DAY_MS)
    for (const { id } of await orders.dueForRenewal(db, before, config.SVC_MAIL_HOSTNAME)) {
      await db.transaction().execute((tx) => orders.insert(tx, id))
    }
    // Without knowing where names should lead, nobody is asked for what would be refused.
    if (config.CERT_SERVER_IPS.length > 0) await orderFirst(core, inventory.folder)
  },
})

async function orderFirst(core: Core, folder: string): Promise<void> {
  const { config, db } = core
  let left = config.CERT_WEEKLY_LIMIT - (await orders.countOfWeek(db))
  for (const { domain, organization_id } of await orders.withoutCertificate(db, MAX_LOOKED_UP)) {
    if (left <= 0) return
    if ((await namesOf(core, domain)).length === 0) continue
    await db.transaction().execute(async (tx) => {
      const path = fileOf(folder, domain)
      const id = await certificates.obtainable(tx, { domain, organization_id, path })
      await orders.insert(tx, id)
    })
    left--
  }
}
