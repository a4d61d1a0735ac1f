import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'

const Token = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The part of the link after #',
})

export const LinkBody = Body({ token: Token })

export const AcceptBody = Body({
  token: Token,
  password: Type.String({
    description: '12 characters or more, with letters and numbers, not a common one',
  }),
  full_name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
})

export const LinkDetails = Type.Object({
  kind: OneOf(['invitation', 'password_reset']),
  account: OneOf(['user', 'operator']),
  email: Type.String(),
  full_name: Nullable(Type.String()),
  organization_name: Nullable(Type.String({ description: 'null for an operator' })),
  expires_at: Timestamp,
})

export const LinkAccepted = Type.Object({
  account: OneOf(['user', 'operator']),
  email: Type.String({ description: 'Sign in with it and the new password' }),
})

export const ResetRequest = Body({
  email: Type.String({ maxLength: 254, examples: ['admin@acme.example'] }),
})
