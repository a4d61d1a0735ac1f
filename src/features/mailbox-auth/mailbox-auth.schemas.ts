import { Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../http/envelope.ts'

export const PLATFORMS = ['ios', 'android', 'macos', 'windows', 'linux', 'web'] as const

export const MailboxLoginBody = Body({
  email_address: Type.String({ minLength: 1, maxLength: 255, examples: ['jane@acme.example'] }),
  password: Type.String({ minLength: 1, maxLength: 1024 }),
  two_factor_code: Type.Optional(
    Type.String({ maxLength: 32, description: 'TOTP or recovery code, on the second try' }),
  ),
})

/** Either the fields of a session or those of a request for a code. */
export const MailboxSignedIn = Type.Object({
  two_factor_required: Type.Optional(Type.Literal(true)),
  token: Type.Optional(Type.String({ description: 'For `Authorization: Bearer`' })),
  csrf_token: Type.Optional(Type.String()),
  expires_at: Type.Optional(Timestamp),
  email_address: Type.Optional(Type.String()),
  email_account: Type.Optional(
    Type.Object({
      id: Type.String(),
      email_address: Type.String(),
      name: Nullable(Type.String()),
    }),
  ),
  must_change_password: Type.Optional(Type.Boolean()),
  password_change_reason: Type.Optional(Nullable(Type.String())),
  client_platform: Type.Optional(Nullable(Type.String())),
  idle_timeout_seconds: Type.Optional(Type.Integer()),
})
