import { Type } from 'typebox'
import { ROLES } from '../../../access/caller.ts'
import { Body, OneOf } from '../../../http/envelope.ts'
import { OperatorSession } from '../sessions/sessions.schemas.ts'

export const LoginBody = Body({
  email: Type.String({ maxLength: 254, examples: ['root@ops.example'] }),
  password: Type.String({ maxLength: 1024 }),
})

export const MfaBody = Body({
  token: Type.String({
    minLength: 1,
    maxLength: 32,
    description: '6-digit TOTP, or a backup code once enrolled',
    examples: ['123456'],
  }),
})

export const PasswordBody = Body({
  current_password: Type.String({ maxLength: 1024 }),
  new_password: Type.String({
    description: '12 characters or more, with letters and numbers, not a common one',
  }),
})

export const BackupCodesBody = Body({
  current_password: Type.Optional(
    Type.String({ maxLength: 1024, examples: ['a-long-passphrase-1'] }),
  ),
  token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 32,
      description: 'A current 6-digit TOTP instead of the password, or a backup code',
    }),
  ),
})

export const BackupCodes = Type.Object({
  backup_codes: Type.Array(Type.String({ examples: ['K7WQ2MZP'] }), {
    description: 'Each works once; returned only in this response. Earlier ones no longer work',
  }),
})

const OperatorIdentity = Type.Object({
  id: Type.String(),
  email: Type.String(),
  role: OneOf(ROLES),
})

export const FirstOperatorCreated = Type.Object({
  operator_id: Type.String(),
  email: Type.String(),
  role: Type.Literal('owner'),
})

export const PasswordVerified = Type.Object({
  operator: OperatorIdentity,
  mfa_required: Type.Boolean(),
  mfa_enrolled: Type.Boolean({ description: 'false: call mfa/setup first' }),
})

export const Enrollment = Type.Object({
  secret: Type.String({ description: 'Base 32, for manual entry' }),
  otpauth_uri: Type.String({ examples: ['otpauth://totp/Mailplane:root%40ops.example?secret=…'] }),
  backup_codes: Type.Array(Type.String({ examples: ['K7WQ2MZP'] }), {
    description: 'Each works once; returned only in this response',
  }),
  digits: Type.Integer({ examples: [6] }),
  period: Type.Integer({ examples: [30] }),
  algorithm: Type.String({ examples: ['SHA1'] }),
})

export const MfaVerified = Type.Object({ operator: OperatorIdentity })

export const OwnSessions = Type.Object({
  items: Type.Array(
    Type.Object(
      {
        ...OperatorSession.properties,
        is_current: Type.Boolean({ description: 'The session of this request' }),
      },
      { title: 'OwnOperatorSession' },
    ),
  ),
})

export const OperatorMe = Type.Object({
  operator_id: Type.String(),
  email: Type.String(),
  role: OneOf(ROLES),
})
