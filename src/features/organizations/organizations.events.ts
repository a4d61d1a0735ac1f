import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

export const OrganizationCreated = defineEvent('org.created', {
  source: 'api',
  summary: 'An organization was created',
  data: Type.Object({
    organization_id: Type.String(),
    name: Type.String(),
    admin_email: Type.Union([Type.String(), Type.Null()]),
  }),
})

export const OrganizationUpdated = defineEvent('org.updated', {
  source: 'api',
  summary: 'Fields or quotas of an organization were changed',
  data: Type.Object({
    organization_id: Type.String(),
    name: Type.Optional(Type.String()),
    updated_fields: Type.Optional(Type.Array(Type.String())),
    update_type: Type.Optional(Type.Literal('quotas')),
    storage_quotas: Type.Optional(Type.Object({}, { additionalProperties: true })),
    rate_limits: Type.Optional(Type.Object({}, { additionalProperties: true })),
    quota_override: Type.Optional(Type.Boolean()),
  }),
})

const Named = Type.Object({ organization_id: Type.String(), name: Type.String() })

export const OrganizationSuspended = defineEvent('org.suspended', {
  source: 'api',
  summary: 'An organization was suspended: its keys, sessions and mail stop',
  data: Named,
})

export const OrganizationActivated = defineEvent('org.activated', {
  source: 'api',
  summary: 'A suspended organization works again',
  data: Named,
})

export const OrganizationDeleted = defineEvent('org.deleted', {
  source: 'api',
  summary: 'An organization was deleted',
  data: Named,
})
