import { defineError } from '../../errors.ts'

export const SharedMailboxNotFound = defineError({
  status: 404,
  message: 'Shared mailbox not found',
})
export const MemberNotFound = defineError({ status: 404, message: 'Member not found' })
export const AccountNotFound = defineError({ status: 404, message: 'Email account not found' })
export const DomainNotVerified = defineError<string>({
  status: 400,
  message: (domain) =>
    `Domain ${domain} is not verified. Publish its DNS records and verify them first.`,
})
export const DomainInactive = defineError<string>({
  status: 400,
  message: (domain) => `Domain ${domain} is inactive`,
})
