import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'

const ResourceType = OneOf(['mailbox', 'domain'])

export const FailuresQuery = Type.Object({
  ...PageQuery,
  resource_type: Type.Optional(ResourceType),
  organization_id: Type.Optional(Type.String()),
})

export const ProvisioningFailure = Type.Object(
  {
    resource_type: ResourceType,
    id: Type.String(),
    name: Type.String({
      description: 'The e-mail address or the domain',
      examples: ['jane@acme.example'],
    }),
    organization_id: Type.String(),
    organization_name: Type.String(),
    status: Type.String({ examples: ['failed'] }),
    error: Nullable(Type.String()),
    attempts: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'ProvisioningFailure' },
)

export const ResourceParams = Type.Object({
  resource_type: ResourceType,
  resource_id: Type.String(),
})

export const RetryBody = Body({ reason: Type.String({ minLength: 1, maxLength: 1000 }) })

export const RetryQueued = Type.Object({
  resource_type: ResourceType,
  id: Type.String(),
  status: Type.Literal('pending'),
})
