import { Type } from 'typebox'
import { ROLES } from '../../../access/caller.ts'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { PADDED_EMAIL_PATTERN } from '../../../lib/email.ts'

export const Operator = Type.Object(
  {
    id: Type.String(),
    email: Type.String({ examples: ['root@ops.example'] }),
    full_name: Type.String(),
    role: OneOf(ROLES),
    is_active: Type.Boolean(),
    mfa_required: Type.Boolean({ description: 'Always true' }),
    mfa_enrolled: Type.Boolean(),
    last_login_at: Nullable(Timestamp),
    created_by: Nullable(Type.String()),
    created_by_email: Nullable(Type.String()),
    created_at: Timestamp,
    active_session_count: Type.Integer(),
  },
  { title: 'Operator' },
)

export const OperatorParams = Type.Object({ operator_id: Type.String() })

export const OperatorQuery = Type.Object({
  ...PageQuery,
  q: Type.Optional(Type.String({ description: 'Part of email or full name' })),
  role: Type.Optional(OneOf(ROLES)),
  is_active: Type.Optional(Type.Boolean()),
})

const FullName = Type.String({ minLength: 1, maxLength: 255, examples: ['Root Operator'] })

const OperatorEmail = Type.String({
  pattern: PADDED_EMAIL_PATTERN,
  maxLength: 254,
  examples: ['root@ops.example'],
})

export const NewOperator = Body({
  email: OperatorEmail,
  full_name: FullName,
  password: Type.String({
    description: 'At least 12 characters with letters and numbers; common passwords are rejected',
  }),
  role: OneOf(ROLES),
})

export const FirstOperator = Body({
  email: OperatorEmail,
  full_name: FullName,
  password: NewOperator.properties.password,
})

export const OperatorChange = Body({
  full_name: Type.Optional(FullName),
  role: Type.Optional(OneOf(ROLES)),
  is_active: Type.Optional(Type.Boolean()),
})

/** The body of actions that correct the account of another operator. */
export const ReasonBody = Body({
  reason: Type.String({
    minLength: 1,
    description: 'Stored in the audit trail',
    examples: ['Lost phone'],
  }),
})

export const MfaReset = Type.Object({
  operator_id: Type.String(),
  mfa_cleared: Type.Boolean({ description: 'A second factor was enrolled' }),
  sessions_revoked: Type.Integer(),
})

export const SessionsRevoked = Type.Object({
  operator_id: Type.String(),
  revoked: Type.Integer({ description: 'Sessions that this call ended' }),
})

export const OperatorLink = Type.Object({
  operator_id: Type.String(),
  link: Type.String({ description: 'Mailed too; hand it over when mail fails' }),
  expires_at: Timestamp,
})
