import { atLeast, type Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import * as accounts from './acme/accounts.repository.ts'
import * as orders from './acme/orders.repository.ts'
import * as certificates from './certificates.repository.ts'
import type { Inventory } from './inventory/inventory.ts'
import { CertificateNotFound, NotOurDomain, RenewalUnavailable } from './ssl.errors.ts'

interface Needs extends Pick<Core, 'change' | 'config' | 'db' | 'now'> {
  inventory: Inventory
}

export type SslService = ReturnType<typeof sslService>

export function sslService({ change, config, db, inventory, now }: Needs) {
  const noteOf = (schema_note: string | undefined) => (schema_note ? { schema_note } : {})

  /** Certificates are available for hosted domains and for the mail host itself. */
  async function ownerOf(domain: string) {
    const hosted = await certificates.hostedDomain(db, domain)
    if (hosted) return hosted.organization_id
    if (domain === config.SVC_MAIL_HOSTNAME) return null
    throw new NotOurDomain(domain)
  }

  return {
    async status(caller: Caller, includeAccounts: boolean) {
      const note = await inventory.refresh()
      const at = now()
      const [counted, last, all] = await Promise.all([
        certificates.counts(db, at),
        certificates.lastIssued(db),
        includeAccounts ? accounts.list(db) : undefined,
      ])
      return {
        certificates: counted,
        last_issued: last ?? { domain: null, issued_at: null },
        timestamp: at.toISOString(),
        ...noteOf(note),
        ...(all && { acme_accounts_total: all.length }),
        // Only roles that may list accounts see their e-mail addresses.
        ...(all && atLeast(caller.role, 'admin') && { acme_accounts: all }),
      }
    },

    async list(
      filter: certificates.CertificateFilter,
      sort: certificates.CertificateSort,
      page: Page,
    ) {
      const note = await inventory.refresh()
      const { items, total } = await certificates.list(db, filter, sort, page, now())
      const { pagination } = paginated(items, total, page)
      const total_pages = Math.max(1, pagination.total_pages)
      return { items, pagination: { ...pagination, total_pages }, ...noteOf(note) }
    },

    async get(sent: string) {
      await inventory.refresh()
      const domain = toDomainName(sent) ?? sent
      const certificate = await certificates.newestOf(db, domain, now())
      if (!certificate) throw new CertificateNotFound(sent)
      return certificate
    },

    /** Orders a new certificate; the old one stays in use until then. */
    async renew(caller: Caller, sent: string) {
      if (config.ACME_DIRECTORY_URL === undefined || config.ACME_EMAILS.length === 0) {
        throw new RenewalUnavailable()
      }
      const domain = toDomainName(sent) ?? sent
      const organization_id = await ownerOf(domain)
      const { folder } = inventory
      const id = await change(caller, async (tx) => {
        const certificateId = await certificates.obtainable(tx, { domain, organization_id, folder })
        if (!(await orders.insert(tx, certificateId, true))) await orders.hurry(tx, certificateId)
        return certificateId
      })
      return certificates.find(db, id, now())
    },

    async accounts() {
      const all = await accounts.list(db)
      return { accounts: all, total: all.length }
    },
  }
}
