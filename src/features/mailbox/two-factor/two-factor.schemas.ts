import { Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../../http/envelope.ts'

export const TwoFactorStatus = Type.Object({
  enabled: Type.Boolean(),
  pending: Type.Boolean({ description: 'Set up, but not confirmed with a code yet' }),
  enabled_at: Nullable(Timestamp),
  backup_codes_left: Type.Integer(),
})

export const Setup = Type.Object({
  secret: Type.String({ description: 'Base 32; shown this once only' }),
  otpauth_uri: Type.String({ description: 'For a QR code' }),
  backup_codes: Type.Array(Type.String(), {
    description: 'Each works once, in place of a code; shown this once only',
  }),
  digits: Type.Integer({ examples: [6] }),
  period: Type.Integer({ description: 'Seconds', examples: [30] }),
  algorithm: Type.String({ examples: ['SHA1'] }),
})

export const ConfirmBody = Body({
  code: Type.String({
    minLength: 1,
    maxLength: 32,
    description: 'The code of the authenticator application',
    examples: ['123456'],
  }),
})

export const DisableBody = Body({
  two_factor_code: Type.String({
    minLength: 1,
    maxLength: 32,
    description: 'A current code, or a backup code',
    examples: ['123456'],
  }),
})
