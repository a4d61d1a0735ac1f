import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

export const OrganizationCreated = defineEvent('org.created', {
  source: 'api',
  summary: 'An organization was created',
  data: Type.Object({
    organization_id: Type.String(),
    name: Type.String(),
    admin_email: Type.String(),
  }),
})
