import { defineError } from '../../errors.ts'

export const CredentialNotFound = defineError({
  status: 404,
  message: 'SMTP credential not found',
})
export const CredentialDomainNotFound = defineError<string>({
  status: 404,
  message: (id) => `Domain ${id} not found`,
})
export const UsernameTaken = defineError<string>({
  status: 409,
  message: (username) => `SMTP credential ${username} already exists`,
})
