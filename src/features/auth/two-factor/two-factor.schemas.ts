import { Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../../http/envelope.ts'

export const CodeBody = Body({
  code: Type.String({
    minLength: 1,
    maxLength: 32,
    description: '6-digit TOTP, or a backup code once enabled',
    examples: ['123456'],
  }),
})

export const TwoFactorStatus = Type.Object({
  enabled: Type.Boolean(),
  pending: Type.Boolean({ description: 'Set up, but not confirmed with a code' }),
  required: Type.Boolean({ description: 'The organization requires a second factor' }),
  enabled_at: Nullable(Timestamp),
  backup_codes_left: Type.Integer(),
})

export const Enrollment = Type.Object({
  secret: Type.String({ description: 'Base 32, for manual entry' }),
  otpauth_uri: Type.String({ examples: ['otpauth://totp/Mailplane:ada%40acme.example?secret=…'] }),
  backup_codes: Type.Array(Type.String({ examples: ['K7WQ2MZP'] }), {
    description: 'Each works once; returned only in this response',
  }),
  digits: Type.Integer({ examples: [6] }),
  period: Type.Integer({ examples: [30] }),
  algorithm: Type.String({ examples: ['SHA1'] }),
})
