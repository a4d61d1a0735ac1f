import { Type } from 'typebox'
import { ROLES } from '../../../access/caller.ts'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'

export const OperatorSession = Type.Object(
  {
    id: Type.String(),
    ip_address: Type.String({ examples: ['192.0.2.7'] }),
    user_agent: Nullable(Type.String()),
    mfa_satisfied: Type.Boolean(),
    created_at: Timestamp,
    expires_at: Timestamp,
    absolute_expiry: Timestamp,
    revoked_at: Nullable(Timestamp),
    is_active: Type.Boolean({ description: 'Not revoked and not expired' }),
  },
  { title: 'OperatorSession' },
)

export const OperatorSessions = Type.Object({ items: Type.Array(OperatorSession) })

export const LiveSessions = Type.Object({
  items: Type.Array(
    Type.Object(
      {
        ...OperatorSession.properties,
        operator_id: Type.String(),
        operator_email: Type.String(),
        operator_role: OneOf(ROLES),
        is_current: Type.Boolean({ description: 'The session of this request' }),
      },
      { title: 'LiveOperatorSession' },
    ),
  ),
})

export const SessionParams = Type.Object({ session_id: Type.String() })

export const Reason = Body({
  reason: Type.String({ minLength: 1, description: 'Stored in the audit trail' }),
})

export const SessionRevoked = Type.Object({ session_id: Type.String(), revoked: Type.Literal(1) })
