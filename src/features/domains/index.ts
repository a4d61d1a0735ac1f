import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { deleteRetiredKeys } from './dkim/dkim.jobs.ts'
import { dkimRoutes } from './dkim/dkim.routes.ts'
import { dkimService } from './dkim/dkim.service.ts'
import { dkimKeyRoutes } from './dkim/dkim-keys.routes.ts'
import { watchDns } from './dns-history/dns-history.jobs.ts'
import { dnsHistoryRoutes } from './dns-history/dns-history.routes.ts'
import { dnsHistoryService } from './dns-history/dns-history.service.ts'
import { dnsRecordsRoutes } from './dns-records/dns-records.routes.ts'
import { dnsRecordsService } from './dns-records/dns-records.service.ts'
import { type AccountLister, domainRoutes } from './domains.routes.ts'
import type { DomainService } from './domains.service.ts'
import { legacyDomainRoutes } from './legacy/legacy.routes.ts'
import { legacyDomainService } from './legacy/legacy.service.ts'
import { watchMtaSts } from './mta-sts/mta-sts.jobs.ts'
import { mtaStsRoutes } from './mta-sts/mta-sts.routes.ts'
import { mtaStsService } from './mta-sts/mta-sts.service.ts'
import { endClaims, lookForOwnership } from './ownership/ownership.jobs.ts'
import { ownershipRoutes } from './ownership/ownership.routes.ts'
import { ownershipService } from './ownership/ownership.service.ts'
import { forgetTlsReports } from './tls-reports/tls-reports.jobs.ts'
import { tlsReportRoutes } from './tls-reports/tls-reports.routes.ts'
import { tlsReportService } from './tls-reports/tls-reports.service.ts'
import { verifyDnsRoutes } from './verify-dns/verify-dns.routes.ts'
import { verifyDnsService } from './verify-dns/verify-dns.service.ts'

export const domains = (
  core: Core,
  { domains: service, accountLister }: { domains: DomainService; accountLister: AccountLister },
): Feature => ({
  prefix: '/api/v1/domains',
  capabilities: [
    'domains',
    'dkim',
    'dkim_rotation',
    'tenant_dkim',
    'dns_history',
    'domain_ownership',
    'dns_records',
    'mta_sts',
    'tls_reports',
  ],
  jobs: [deleteRetiredKeys, lookForOwnership, endClaims, watchDns, watchMtaSts, forgetTlsReports],
  routes: async (app) => {
    const dkim = dkimService(core)
    await app.register(legacyDomainRoutes(legacyDomainService({ ...core, domains: service })))
    await app.register(verifyDnsRoutes(verifyDnsService(core)))
    await app.register(dnsHistoryRoutes(dnsHistoryService(core)))
    await app.register(dnsRecordsRoutes(dnsRecordsService(core)))
    await app.register(mtaStsRoutes(mtaStsService(core)))
    await app.register(tlsReportRoutes(tlsReportService(core)))
    await app.register(dkimRoutes(dkim))
    await app.register(dkimKeyRoutes(dkim))
    await app.register(ownershipRoutes(ownershipService(core)))
    await app.register(domainRoutes(service, accountLister))
  },
})
