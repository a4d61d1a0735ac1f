import { Type } from 'typebox'
import { Nullable, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'

export const OauthGrant = Type.Object(
  {
    grant_id: Type.String(),
    client_id: Nullable(Type.String()),
    client_name: Type.String({ examples: ['Acme Webmail'] }),
    user_email: Type.String({ examples: ['jane@acme.example'] }),
    scopes: Type.Array(Type.String(), { examples: [['openid', 'imap', 'smtp']] }),
    last_used_at: Nullable(Timestamp),
    last_used_service: Nullable(Type.String({ examples: ['imap'] })),
    last_used_ip: Nullable(Type.String({ examples: ['192.0.2.7'] })),
    created_at: Timestamp,
  },
  { title: 'OauthGrant' },
)

export const GrantQuery = Type.Object({
  ...PageQuery,
  email: Type.Optional(Type.String({ description: 'Grants of one mailbox' })),
  client_id: Type.Optional(Type.String({ description: 'Grants to one program' })),
})

export const GrantParams = Type.Object({ grant_id: Type.String() })

export const GrantEnded = Type.Object({
  grant_id: Type.String(),
  cache_flushed: Type.Boolean({
    description: 'The mail server has confirmed that it forgot the cached logins',
  }),
})
