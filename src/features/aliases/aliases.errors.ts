import { defineError } from '../../errors.ts'

export const AliasNotFound = defineError({ status: 404, message: 'Alias not found' })
export const AliasDomainNotFound = defineError<string>({
  status: 404,
  message: (domain) => `Domain ${domain} not found`,
})
export const AliasExists = defineError<string>({
  status: 409,
  code: 'ALIAS_ALREADY_EXISTS',
  message: (source) => `Alias ${source} already exists`,
})
export const DomainUnavailable = defineError<string>({
  status: 400,
  message: (domain) => `Domain ${domain} not found or inactive`,
})
export const InvalidAlias = defineError<string>({ status: 400, message: (text) => text })
/** The message names the path only to callers that may read every alias on it. */
export const ForwardingLoop = defineError<string[] | undefined>({
  status: 400,
  message: (path) => `This would create a forwarding loop${path ? `: ${path.join(' -> ')}` : ''}`,
})
export const ForwardsTooFar = defineError<string>({
  status: 400,
  message: (source) => `Alias ${source} would forward through too many other aliases`,
})
