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
export const SharedAddressTaken = defineError<{ email: string; by: string; id?: string }>({
  status: 409,
  code: 'MAILBOX_ALREADY_EXISTS',
  message: ({ email, by }) => `Address ${email} is already used by ${by}`,
  data: ({ id }) => (id === undefined ? undefined : { existing_id: id }),
})
