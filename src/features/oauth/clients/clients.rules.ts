import { invalidField } from '../../../errors.ts'
import type { GrantType } from '../scopes.ts'

export interface Asked {
  clientType: 'confidential' | 'public'
  grantTypes: readonly GrantType[]
  redirectUris: readonly string[]
  scopes: readonly string[]
}

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** Refuses what the authorization server would not accept, with the field that is wrong. */
export function checkClient({ clientType, grantTypes, redirectUris, scopes }: Asked): void {
  const usesCode = grantTypes.includes('authorization_code')
  const isForHolders = usesCode || grantTypes.includes('device_code')
  if (grantTypes.includes('client_credentials')) {
    if (clientType === 'public') {
      throw invalidField('grant_types', 'client_credentials needs a confidential client')
    }
    if (grantTypes.length > 1) {
      throw invalidField('grant_types', 'client_credentials cannot be combined with other grants')
    }
    if (scopes.length > 0) {
      throw invalidField('scopes', 'a client_credentials client has the scopes of its API key')
    }
  } else if (!isForHolders) {
    throw invalidField('grant_types', 'needs authorization_code, device_code or client_credentials')
  }
  if (usesCode && redirectUris.length === 0) {
    throw invalidField('redirect_uris', 'authorization_code needs at least one redirect URI')
  }
  for (const uri of redirectUris) {
    const problem = redirectProblem(uri, clientType)
    if (problem) throw invalidField('redirect_uris', `${uri} ${problem}`)
  }
}

function redirectProblem(uri: string, clientType: Asked['clientType']): string | undefined {
  if (!URL.canParse(uri)) return 'is not a URI'
  const { hash, hostname, password, protocol, username } = new URL(uri)
  if (hash !== '' || uri.includes('#')) return 'must not have a fragment'
  if (username !== '' || password !== '') return 'must not contain a login'
  if (protocol === 'https:') return undefined
  if (clientType !== 'public') return 'must begin with https:'
  if (protocol === 'http:') {
    return LOOPBACK.has(hostname) ? undefined : 'must begin with https: outside of loopback'
  }
  // RFC 8252: a scheme of its own is a domain of the maker in reverse, so that no two programs share it.
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(protocol)
    ? undefined
    : 'must have https, http on loopback, or a scheme such as com.example.mail'
}
