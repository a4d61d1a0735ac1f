import { defineError } from '../../../errors.ts'

export const LinkInvalid = defineError({
  status: 404,
  code: 'LINK_INVALID',
  message:
    'This link does not work any more: it was used, replaced or has expired; ask for a new one',
})
export const AddressHasAccount = defineError({
  status: 409,
  code: 'ADDRESS_HAS_ACCOUNT',
  message:
    'This address already signs in to another organization; ask to be invited with another address',
})
