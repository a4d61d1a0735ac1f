import { defineError } from '../../errors.ts'

export const DomainNotFound = defineError({ status: 404, message: 'Domain not found' })
export const DomainAlreadyClaimed = defineError<{ domain: string; existing_id?: string }>({
  status: 409,
  code: 'DOMAIN_ALREADY_CLAIMED',
  message: ({ domain }) => `Domain ${domain} already exists`,
  // Only the owner of the domain gets its id.
  data: ({ existing_id }) => (existing_id === undefined ? undefined : { existing_id }),
})
export const DomainReserved = defineError<string>({
  status: 409,
  code: 'DOMAIN_RESERVED',
  message: (domain) =>
    `Domain ${domain} belongs to this host or contains its name; it is not given to organizations`,
})
export const OperatorMustApprove = defineError<string>({
  status: 409,
  code: 'DOMAIN_NEEDS_OPERATOR',
  message: (domain) =>
    `Ownership of ${domain} must be confirmed by an operator of this host; ask for it`,
})
export const DomainExternalIdTaken = defineError({
  status: 409,
  message: 'Domain with this external_id already exists',
})
export const DomainNotEmpty = defineError<number>({
  status: 400,
  message: (accounts) => `Cannot delete domain with ${accounts} email accounts. Delete them first.`,
})
export const OrganizationIdRequired = defineError({
  status: 400,
  message: 'organization_id is required for a platform-scope caller',
})
export const InvalidFormat = defineError<string>({ status: 400, message: (text) => text })
