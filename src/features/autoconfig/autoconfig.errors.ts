import { defineError } from '../../errors.ts'

/** One answer for unknown, pending and suspended domains: other tenants must not learn which one it is. */
export const DomainNotHosted = defineError({
  status: 404,
  message: 'Mail of this domain is not hosted here',
})
export const AddressMissing = defineError({
  status: 400,
  message: 'Name an e-mail address such as jane@acme.example',
})
