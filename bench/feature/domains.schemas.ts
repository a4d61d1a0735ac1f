import { Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../src/http/envelope.ts'

export const Domain = Type.Object({
  id: Type.String(),
  organization_id: Type.String(),
  domain: Type.String(),
  external_id: Nullable(Type.String()),
  description: Nullable(Type.String()),
  active: Type.Boolean(),
  verified_at: Nullable(Timestamp),
  max_quota: Type.Integer(),
  max_users: Type.Integer(),
  dkim_enabled: Type.Boolean(),
  dkim_selector: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const DomainParams = Type.Object({ domain_id: Type.String() })

export const NewDomain = Body({ domain: Type.String({ minLength: 1, maxLength: 253 }) })
