import { awaited, reserved } from './plan.ts'

awaited('api', [
  [
    'whitelabel.configured',
    'An organization has a brand of its own',
    'organization_id updated_fields',
  ],
  ['whitelabel.updated', 'The brand of an organization changed', 'organization_id updated_fields'],
  [
    'reseller.account.created',
    'A reseller opened an organization for a customer',
    'organization_id parent_org_id name admin_email plan_name',
  ],
])

reserved('api', [
  [
    'reseller.account.suspended',
    "A reseller suspended a customer's organization",
    'organization_id parent_org_id name',
  ],
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
