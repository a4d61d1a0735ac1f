import Provider, { type Configuration, type JWK, type KoaContextWithOIDC } from 'oidc-provider'
import { SCOPES } from '../../../access/scopes.ts'
import type { Core } from '../../../core.ts'
import { sameSecret, sha256 } from '../../../lib/tokens.ts'
import { HOLDER_SCOPES } from '../scopes.ts'
import { findHolder } from './accounts.repository.ts'
import { adapterFactory } from './adapter.ts'
import { devicePages, sendError } from './device.pages.ts'
import { issuerOf } from './issuer.ts'
import { INTERACTION, ROUTES } from './routes.ts'
import { ID_TOKEN_SECONDS } from './signing-keys.ts'

/** Ten years: a grant ends with its last token, or when a person ends it. */
const GRANT_SECONDS = 315_360_000
const SIGN_IN_SECONDS = 3600

type Needs = Pick<Core, 'authCache' | 'config' | 'db' | 'log' | 'now' | 'vault'>

export function createProvider(core: Needs, keys: JWK[]): Provider {
  const { db, log, vault } = core
  const issuer = issuerOf(core).origin
  const provider = new Provider(issuer, {
    adapter: adapterFactory(core),
    jwks: { keys },
    async findAccount(_ctx, id) {
      const holder = await findHolder(db, id)
      if (!holder) return undefined
      const { email, name } = holder
      const claims = { sub: id, email, email_verified: true, ...(name && { name }) }
      return { accountId: id, claims: async () => claims }
    },
    ...rules(core),
    cookies: { keys: [vault.fingerprint('oauth cookies', 'key')], names: cookieNames },
    interactions: { url: (_ctx, { uid }) => `${INTERACTION}/${uid}` },
    renderError: (ctx, { error, error_description }) => {
      sendError(ctx, error, error_description)
    },
  })
  // The adapter has the hash of a secret only.
  provider.Client.prototype.compareClientSecret = function (actual: string) {
    return this.clientSecret !== undefined && sameSecret(sha256(actual), this.clientSecret)
  }
  // Requests come through a proxy, and `sendToProvider` states the address that programs know.
  provider.proxy = true
  provider.use(async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      // The provider fails to store the session of a browser that has sent a form without one.
      const { session } = (ctx as Partial<KoaContextWithOIDC>).oidc ?? {}
      const isForm = ctx.method === 'POST' && ctx.path === ROUTES.code_verification
      if (!isForm || !(error instanceof TypeError) || session?.exp !== undefined) throw error
      ctx.status = 400
      sendError(ctx as KoaContextWithOIDC, 'invalid_request', 'The page has expired')
    }
  })
  provider.on('server_error', (_ctx, error) => log.error({ err: error }, 'OAuth request failed'))
  return provider
}

const cookieNames = {
  session: 'svc_oauth_session',
  interaction: 'svc_oauth_interaction',
  resume: 'svc_oauth_resume',
}

/** The protocol features that the service allows. */
const rules = ({ config, db }: Needs): Configuration => ({
  responseTypes: ['code'],
  routes: ROUTES,
  scopes: [...HOLDER_SCOPES, ...SCOPES],
  claims: { openid: ['sub'], email: ['email', 'email_verified', 'name'] },
  // Claims come with the scope in the identity token, without another request.
  conformIdTokenClaims: false,
  clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
  clientBasedCORS: () => false,
  pkce: { required: () => true },
  rotateRefreshToken: true,
  // Mail programs seldom ask for offline_access, but all of them need it.
  issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  expiresWithSession: async () => false,
  ttl: {
    AccessToken: config.ACCESS_TOKEN_TTL,
    ClientCredentials: config.ACCESS_TOKEN_TTL,
    RefreshToken: config.REFRESH_TOKEN_TTL,
    AuthorizationCode: 60,
    DeviceCode: 600,
    IdToken: ID_TOKEN_SECONDS,
    Interaction: 600,
    Session: SIGN_IN_SECONDS,
    Grant: GRANT_SECONDS,
  },
  extraTokenClaims: async (_ctx, token) => {
    const accountId = 'accountId' in token ? token.accountId : undefined
    const holder = accountId ? await findHolder(db, accountId) : undefined
    return holder && { username: holder.email }
  },
  features: {
    devInteractions: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    introspection: { enabled: true, allowedPolicy: mayIntrospect },
    revocation: { enabled: true, allowedPolicy: isOwnToken },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true, ...devicePages },
  },
})

const isOwnToken = (
  _ctx: KoaContextWithOIDC,
  client: { clientId: string },
  token: { clientId?: string | undefined },
) => token.clientId === client.clientId

/** Programs learn about their own tokens; a public client proves nothing about itself. */
const mayIntrospect: typeof isOwnToken = (ctx, client, token) =>
  isOwnToken(ctx, client, token) && ctx.oidc.client?.clientAuthMethod !== 'none'
