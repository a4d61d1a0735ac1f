import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { refusing } from '../../database/conflicts.ts'
import { ServiceUnavailable } from '../../errors.ts'
import { brandOfHost } from '../../hosting/brand.repository.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { taskIn } from '../../lib/worker-pool.ts'
import { DnsUnavailable } from '../../mail/dns.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import { readBrand } from './brand.ts'
import { CustomDomainTaken, NoBrandFields, NoCustomDomain } from './whitelabel.errors.ts'
import { WhitelabelConfigured, WhitelabelUpdated } from './whitelabel.events.ts'
import * as brands from './whitelabel.repository.ts'

const TIME_LIMIT_MS = 5000

const sanitizeTask = taskIn<typeof import('./sanitize.task.ts')>('features/whitelabel/sanitize')
const previewTask = taskIn<typeof import('./preview.task.ts')>('features/whitelabel/preview')

type Needs = Pick<Core, 'change' | 'config' | 'db' | 'events' | 'now' | 'withDns' | 'workers'>

export type WhitelabelService = ReturnType<typeof whitelabelService>

export function whitelabelService(core: Needs) {
  const { change, config, db, events, now, withDns, workers } = core
  async function find(organizationId: string) {
    const row = await brands.find(db, organizationId)
    if (!row && !(await brands.organizationExists(db, organizationId))) {
      throw new OrganizationNotFound()
    }
    return row
  }

  /** Host names that a custom domain may point to. */
  const hosts = () => {
    const { SVC_MAIL_HOSTNAME: mail, SVC_PUBLIC_URL: url } = config
    return [mail.toLowerCase(), ...(url ? [new URL(url).hostname] : [])]
  }

  async function cnameOf(domain: string): Promise<string | undefined> {
    try {
      return (await withDns((dns) => dns.cname(domain)))[0]
    } catch (error) {
      if (error instanceof DnsUnavailable) throw new ServiceUnavailable(error.message)
      throw error
    }
  }

  return {
    get: async (organizationId: string) => shown(organizationId, await find(organizationId)),

    /** Public: for all visitors, before any login. */
    async ofHost(sent: string) {
      const host = toDomainName(sent) ?? ''
      const brand = host === '' ? undefined : await brandOfHost(db, host)
      return { host, is_branded: brand !== undefined, whitelabel: brand ?? {} }
    },

    /** Absent fields keep their values. The response shows the stored values. */
    async set(caller: Caller, organizationId: string, sent: Parameters<typeof readBrand>[0]) {
      const limits = { owner: organizationId, timeLimitMs: TIME_LIMIT_MS }
      const { set, cleared, names } = await readBrand(sent, (markup) =>
        workers.run(sanitizeTask, markup, limits),
      )
      if (names.length === 0) throw new NoBrandFields()
      const taken = { whitelabel_configs_custom_domain_key: () => new CustomDomainTaken() }
      return refusing(taken, () =>
        change(caller, async (tx) => {
          if (!(await brands.lockOrganization(tx, organizationId))) throw new OrganizationNotFound()
          const before = await brands.find(tx, organizationId)
          const fields = { ...before?.fields, ...set }
          for (const field of cleared) delete fields[field]
          const isSameDomain = (before?.custom_domain ?? null) === (fields.custom_domain ?? null)
          const verifiedAt = isSameDomain ? (before?.domain_verified_at ?? null) : null
          const row = await brands.save(tx, organizationId, fields, verifiedAt, now())
          const event = before ? WhitelabelUpdated : WhitelabelConfigured
          const told = { organization_id: organizationId, updated_fields: names }
          await events.emit(tx, event, { org_id: organizationId }, told)
          return shown(organizationId, row)
        }),
      )
    },

    async verifyDomain(caller: Caller, organizationId: string) {
      const domain = (await find(organizationId))?.custom_domain
      if (!domain) throw new NoCustomDomain()
      const wanted = hosts()
      const cname = await cnameOf(domain)
      const verified = cname !== undefined && wanted.includes(cname)
      await change(caller, (tx) =>
        brands.setVerified(tx, organizationId, domain, verified ? now().toISOString() : null),
      )
      return {
        organization_id: organizationId,
        custom_domain: domain,
        verified,
        resolved_cname: cname ?? null,
        message: messageOf(domain, cname, wanted),
      }
    },

    async preview(organizationId: string) {
      const row = await find(organizationId)
      const limits = { owner: organizationId, timeLimitMs: TIME_LIMIT_MS }
      const html = await workers.run(previewTask, row?.fields ?? {}, limits)
      return { organization_id: organizationId, html }
    },

    async remove(caller: Caller, organizationId: string) {
      const removed = await change(caller, async (tx) => {
        if (!(await brands.lockOrganization(tx, organizationId))) throw new OrganizationNotFound()
        const row = await brands.remove(tx, organizationId)
        if (!row) return false
        const told = { organization_id: organizationId, updated_fields: Object.keys(row.fields) }
        await events.emit(tx, WhitelabelUpdated, { org_id: organizationId }, told)
        return true
      })
      return { organization_id: organizationId, removed }
    },
  }
}

function messageOf(domain: string, cname: string | undefined, wanted: string[]): string {
  const target = wanted.join(' or ')
  if (cname === undefined) return `No CNAME was found; point ${domain} at ${target}`
  return wanted.includes(cname)
    ? 'CNAME verified'
    : `The CNAME leads to ${cname}; point ${domain} at ${target}`
}

const shown = (
  organization_id: string,
  row: Awaited<ReturnType<typeof brands.find>> | undefined,
) => ({
  organization_id,
  whitelabel: row?.fields ?? {},
  domain_verified_at: row?.domain_verified_at ?? null,
  updated_at: row?.updated_at ?? null,
})
