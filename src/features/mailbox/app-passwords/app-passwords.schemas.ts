import { Type } from 'typebox'
import { APP_PASSWORD_SCOPES } from '../../../access/app-passwords.ts'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'

const Scopes = Type.Array(OneOf(APP_PASSWORD_SCOPES), {
  minItems: 1,
  maxItems: APP_PASSWORD_SCOPES.length,
  uniqueItems: true,
  description:
    '`imap` reads mail (POP3 too), `smtp` sends, `sieve` edits filters, `dav` is for calendars and contacts, `jmap` for JMAP programs',
  examples: [['imap', 'smtp']],
})

const fields = {
  id: Type.String(),
  name: Type.String({ examples: ['Phone'] }),
  scopes: Scopes,
  last_used_at: Nullable(Timestamp),
  last_used_service: Nullable(Type.String({ examples: ['imap'] })),
  last_used_ip: Nullable(Type.String({ examples: ['192.0.2.7'] })),
  created_at: Timestamp,
}

export const AppPassword = Type.Object(fields, { title: 'AppPassword' })

export const NewAppPassword = Type.Object(
  {
    ...fields,
    password: Type.String({
      description: 'Shown once',
      examples: ['k3n7q-ab2wd-x9fme-ptu4r'],
    }),
  },
  { title: 'NewAppPassword' },
)

export const AppPasswordBody = Body({
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'The program or device that gets it',
    examples: ['Phone'],
  }),
  scopes: Scopes,
})

export const AppPasswordParams = Type.Object({ app_password_id: Type.String() })

export const AppPasswordRevoked = Type.Object({
  id: Type.String(),
  cache_flushed: Type.Boolean({
    description: 'The mail server has confirmed that it forgot the cached logins',
  }),
})
