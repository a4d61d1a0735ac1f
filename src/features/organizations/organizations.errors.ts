import { defineError } from '../../errors.ts'

export const OrganizationNotFound = defineError({ status: 404, message: 'Organization not found' })
export const OrganizationIdTaken = defineError({
  status: 409,
  message: 'Organization with this ID already exists',
})
export const OrganizationExternalIdTaken = defineError({
  status: 409,
  message: 'Organization with this external ID already exists',
})
export const OrganizationNotEmpty = defineError<{ domains: number; accounts: number }>({
  status: 400,
  message: ({ domains, accounts }) =>
    `Cannot delete organization with ${domains} domains and ${accounts} email accounts. Delete them first.`,
})
export const NoQuotaData = defineError({ status: 400, message: 'No quota data provided' })
export const QuotaOverridden = defineError<{ by: string | null; at: string | null }>({
  status: 409,
  message: ({ by, at }) =>
    `Quota override in place: set by ${by ?? 'an operator'} at ${at ?? 'an unknown time'}; clear it, or have an operator pass force=true`,
})
export const QuotaBelowUse = defineError<{ allotted: number }>({
  status: 400,
  message: ({ allotted }) =>
    `Storage quota cannot be below the ${allotted} bytes already allotted; lower those first`,
})
export const AllotmentExceeded = defineError<{ what: string; left: number }>({
  status: 400,
  message: ({ what, left }) => `${what} storage quota exceeded: ${left} bytes are left to allot`,
})

export const OrganizationHasCustomers = defineError({
  status: 400,
  message: 'Cannot delete organization with sub-organizations. Delete them first.',
})
export const OrganizationOnHold = defineError({
  status: 409,
  code: 'legal_hold_active',
  message: 'A legal hold covers this organization; an operator has to release it first',
})
export const DomainLimitReached = defineError({
  status: 400,
  message: 'Organization has reached the number of domains of its plan; an operator can raise it',
})
export const OrganizationUserLimitReached = defineError({
  status: 400,
  message: 'Organization has reached the number of users of its plan; an operator can raise it',
})
