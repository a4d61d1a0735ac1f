import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { GRANT_TYPES, HOLDER_SCOPES } from '../scopes.ts'

const RedirectUris = Type.Array(Type.String({ maxLength: 2000 }), {
  maxItems: 20,
  uniqueItems: true,
  description:
    'Compared exactly. `https`; for public clients also `http` on loopback, where the port is free, and schemes of the program itself such as `com.example.mail:/signed-in`',
  examples: [['https://mail.acme.example/oauth/callback']],
})
const Scopes = Type.Array(OneOf(HOLDER_SCOPES), {
  maxItems: HOLDER_SCOPES.length,
  uniqueItems: true,
  description: 'Scopes that holders can grant; not for `client_credentials`',
  examples: [['openid', 'offline_access', 'imap', 'smtp']],
})
const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Shown to holders who sign in',
  examples: ['Acme Webmail'],
})

export const OauthClient = Type.Object(
  {
    client_id: Type.String(),
    organization_id: Nullable(
      Type.String({ description: 'null: a client of the host, for the mailboxes of all' }),
    ),
    name: Name,
    client_type: OneOf(['confidential', 'public']),
    redirect_uris: RedirectUris,
    grant_types: Type.Array(OneOf(GRANT_TYPES)),
    scopes: Type.Array(Type.String(), { examples: [['openid', 'imap']] }),
    key_id: Nullable(
      Type.String({ description: 'Of `client_credentials`: the API key whose rights it has' }),
    ),
    active: Type.Boolean(),
    created_by: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'OauthClient' },
)

const Secret = Nullable(
  Type.String({ description: 'Returned only in this response; null for a public client' }),
)

export const IssuedOauthClient = Type.Object(
  { ...OauthClient.properties, client_secret: Secret },
  { title: 'IssuedOauthClient' },
)

export const ClientQuery = Type.Object({
  ...PageQuery,
  organization_id: Type.Optional(Type.String({ description: 'For platform callers' })),
})

export const ClientParams = Type.Object({ client_id: Type.String() })

export const NewClient = Body({
  name: Name,
  client_type: Type.Optional(
    OneOf(['confidential', 'public'], {
      default: 'confidential',
      description: '`public`: a program on the device of a person, which can keep no secret',
    }),
  ),
  redirect_uris: Type.Optional(RedirectUris),
  grant_types: Type.Optional(
    Type.Array(OneOf(GRANT_TYPES), {
      minItems: 1,
      uniqueItems: true,
      description: 'Without it: `authorization_code` and `refresh_token`',
    }),
  ),
  scopes: Type.Optional(Scopes),
  key_id: Type.Optional(
    Type.String({
      description:
        'For `client_credentials`: the API key whose rights the client gets. Without it, the key of this request',
    }),
  ),
  organization_id: Type.Optional(
    Type.String({ description: 'For platform callers; without it, a client of the host' }),
  ),
})

export const ClientChange = Body({
  name: Type.Optional(Name),
  redirect_uris: Type.Optional(RedirectUris),
  scopes: Type.Optional(Scopes),
  active: Type.Optional(Type.Boolean({ description: 'false ends all its grants and tokens' })),
})

export const ClientDeleted = Type.Object({ client_id: Type.String() })
