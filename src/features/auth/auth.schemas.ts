import { Type } from 'typebox'
import { Body, Nullable, OneOf } from '../../http/envelope.ts'
import { Manifest } from '../capabilities/capabilities.schemas.ts'

export const LoginBody = Body({
  email: Type.String({ maxLength: 254, examples: ['admin@acme.example'] }),
  password: Type.String({ maxLength: 1024 }),
})

export const PasswordBody = Body({
  current_password: Type.String({ maxLength: 1024 }),
  new_password: Type.String({
    description: '12 characters or more, with letters and numbers, not a common one',
  }),
})

const User = Type.Object({
  id: Type.String(),
  email: Type.String(),
  role: Type.String({
    description: 'owner, admin or read_only; an operator has a role of the platform',
    examples: ['admin'],
  }),
  organization_id: Nullable(Type.String()),
})

const Organization = Type.Object({ id: Type.String(), name: Type.String() })

export const SignedIn = Type.Object({
  user: User,
  organization: Organization,
  capabilities: Manifest,
  two_factor_required: Type.Boolean({
    description: 'The session is partial; call two-factor/verify next',
  }),
  two_factor_enrolled: Type.Boolean({ description: 'false: call two-factor/setup first' }),
})

export const Me = Type.Object({
  user: Nullable(User),
  organization: Nullable(Organization),
  capabilities: Manifest,
  auth_method: OneOf(['session', 'api_key']),
})
