import { actorOf } from '../../../access/actor.ts'
import { type Caller, isPlatform } from '../../../access/caller.ts'
import { contains } from '../../../access/scopes.ts'
import type { Core } from '../../../core.ts'
import { narrowed } from '../../../database/scope.ts'
import { invalidField } from '../../../errors.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { randomToken, sha256 } from '../../../lib/tokens.ts'
import { ulid } from '../../../lib/ulid.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import type { GrantType } from '../scopes.ts'
import * as errors from './clients.errors.ts'
import * as clients from './clients.repository.ts'
import { checkClient } from './clients.rules.ts'

const LIMIT = 100
const USUAL_GRANTS: GrantType[] = ['authorization_code', 'refresh_token']
const USUAL_SCOPES = ['openid', 'email', 'offline_access', 'imap', 'smtp']

interface NewClient {
  name: string
  client_type?: 'confidential' | 'public'
  redirect_uris?: string[]
  grant_types?: GrantType[]
  scopes?: string[]
  key_id?: string
  organization_id?: string
}

interface Change {
  name?: string
  redirect_uris?: string[]
  scopes?: string[]
  active?: boolean
}

type Needs = Pick<Core, 'access' | 'authCache' | 'change' | 'db' | 'now'>

export type OauthClientService = ReturnType<typeof oauthClientService>

/** Programs that may ask the mailboxes of an organization for access, or act with the rights of a key. */
export function oauthClientService({ access, authCache, change, db, now }: Needs) {
  async function get(caller: Caller, id: string) {
    const client = await clients.find(db, caller.scope, id)
    if (!client) throw new errors.OauthClientNotFound()
    return client
  }

  /** The key whose rights a client gets. They must be rights of the caller too. */
  async function keyFor(caller: Caller, keyId: string | undefined) {
    if (keyId === undefined && caller.kind !== 'key') {
      throw invalidField('key_id', 'client_credentials needs the key_id of an API key')
    }
    const wanted = keyId === undefined ? { id: caller.id } : { keyId }
    const key = await clients.findKey(db, caller.scope, wanted, now())
    if (!key) throw invalidField('key_id', 'there is no such active API key')
    if (!contains(ownScopes(caller), key.scopes)) throw new errors.OauthRightsExceeded()
    return key
  }

  /** Runs a change that may end tokens, and makes the mail servers forget them. */
  async function ending<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    const addresses = await clients.addressesOf(db, id)
    const result = await work()
    await access.settled()
    if (addresses.length > 0) await authCache.flush(addresses)
    return result
  }

  return {
    get,

    async list(caller: Caller, organizationId: string | undefined, page: Page) {
      const scope = narrowed(caller.scope, organizationId)
      const { items, total } = await clients.list(db, scope, page)
      return paginated(items, total, page)
    },

    async create(caller: Caller, sent: NewClient) {
      const { client_type = 'confidential', redirect_uris = [], grant_types = USUAL_GRANTS } = sent
      const actsForItself = grant_types.includes('client_credentials')
      const scopes = sent.scopes ?? (actsForItself ? [] : USUAL_SCOPES)
      checkClient({
        clientType: client_type,
        grantTypes: grant_types,
        redirectUris: redirect_uris,
        scopes,
      })
      const key = actsForItself ? await keyFor(caller, sent.key_id) : undefined
      const organizationId = key
        ? key.organization_id
        : isPlatform(caller)
          ? (sent.organization_id ?? null)
          : caller.organizationId
      const secret = client_type === 'confidential' ? randomToken() : null
      const client = await change(caller, async (tx) => {
        if (organizationId && !(await clients.organizationExists(tx, organizationId))) {
          throw new OrganizationNotFound()
        }
        if ((await clients.lockAndCount(tx, organizationId)) >= LIMIT) {
          throw new errors.TooManyOauthClients({ limit: LIMIT })
        }
        return clients.insert(
          tx,
          {
            id: ulid(),
            organization_id: organizationId,
            name: sent.name,
            client_type,
            secret_hash: secret === null ? null : sha256(secret),
            redirect_uris,
            grant_types,
            scopes,
            api_key_id: key?.id ?? null,
            created_by: actorOf(caller),
          },
          now(),
        )
      })
      return { ...client, client_secret: secret }
    },

    async update(caller: Caller, id: string, sent: Change) {
      const before = await get(caller, id)
      checkClient({
        clientType: before.client_type,
        grantTypes: before.grant_types,
        redirectUris: sent.redirect_uris ?? before.redirect_uris,
        scopes: sent.scopes ?? before.scopes,
      })
      return ending(id, async () => {
        const client = await change(caller, (tx) =>
          clients.update(tx, caller.scope, id, sent, now()),
        )
        if (!client) throw new errors.OauthClientNotFound()
        return client
      })
    },

    /** The old secret is refused at once; tokens that exist stay valid. */
    async rotate(caller: Caller, id: string) {
      const { client_type } = await get(caller, id)
      if (client_type === 'public') throw new errors.OauthSecretNotUsed()
      const secret = randomToken()
      const fields = { secret_hash: sha256(secret) }
      const client = await change(caller, (tx) =>
        clients.update(tx, caller.scope, id, fields, now()),
      )
      if (!client) throw new errors.OauthClientNotFound()
      return { ...client, client_secret: secret }
    },

    async remove(caller: Caller, id: string) {
      await ending(id, async () => {
        const removed = await change(caller, (tx) => clients.remove(tx, caller.scope, id))
        if (!removed) throw new errors.OauthClientNotFound()
      })
      return { client_id: id }
    },
  }
}

/** The rights of the caller, as scopes of a key. */
function ownScopes({ adminAccess, readOnly, scopes }: Caller): readonly string[] {
  if (scopes !== null) return scopes
  if (readOnly) return ['read']
  return [adminAccess ? 'admin' : 'write']
}
