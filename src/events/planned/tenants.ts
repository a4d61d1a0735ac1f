import { reserved } from './plan.ts'

reserved('api', [
  [
    'domain.verification.failed',
    'DNS records of a domain were not found',
    'domain_id domain organization_id',
  ],
  [
    'domain.dns.configured',
    'DNS records of a domain were published',
    'domain_id domain organization_id',
  ],
])
