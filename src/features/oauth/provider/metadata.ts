import type { AdapterPayload } from 'oidc-provider'
import { contains, SCOPES } from '../../../access/scopes.ts'
import type { ProviderClient } from '../clients/clients.repository.ts'
import { DEVICE_CODE } from '../scopes.ts'

const WIRE_NAMES: Record<string, string> = { device_code: DEVICE_CODE }

/** Every scope that these rights contain. */
const reachable = (rights: readonly string[]) => SCOPES.filter((one) => contains(rights, [one]))

/** A stored client in the words of the provider. Its secret is the hash; see `compareClientSecret`. */
export function metadataOf(client: ProviderClient): AdapterPayload {
  const isPublic = client.client_type === 'public'
  const usesCode = client.grant_types.includes('authorization_code')
  return {
    client_id: client.id,
    client_name: client.name,
    ...(client.secret_hash !== null && { client_secret: client.secret_hash }),
    token_endpoint_auth_method: isPublic ? 'none' : 'client_secret_basic',
    // Programs on a device may listen on any port of loopback.
    application_type: isPublic ? 'native' : 'web',
    redirect_uris: client.redirect_uris,
    response_types: usesCode ? ['code'] : [],
    grant_types: client.grant_types.map((name) => WIRE_NAMES[name] ?? name),
    scope: (client.key_scopes ? reachable(client.key_scopes) : client.scopes).join(' '),
  }
}
