import { awaited, reserved } from './plan.ts'

awaited('api', [
  [
    'compliance.data_export',
    'Somebody asked for the data of a person',
    'export_id user_email export_type requested_by',
  ],
  [
    'compliance.data_erasure',
    'Somebody asked for the data of a person to be erased',
    'erasure_id user_email requested_by hard_delete_scheduled_at',
  ],
  [
    'compliance.consent_changed',
    'A person gave or withdrew consent',
    'user_email consent_type granted action=granted',
  ],
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
  ['compliance.hold.placed', 'Data of a person must be kept', 'hold_id user_email reason=lawsuit'],
  ['compliance.hold.released', 'Data of a person need not be kept any more', 'hold_id user_email'],
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
