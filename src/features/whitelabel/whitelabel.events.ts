import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const data = Type.Object({
  organization_id: Type.String(),
  updated_fields: Type.Array(Type.String(), { examples: [['brand_name', 'primary_color']] }),
})

export const WhitelabelConfigured = defineEvent('whitelabel.configured', {
  source: 'api',
  summary: 'An organization has a brand of its own',
  data,
})

export const WhitelabelUpdated = defineEvent('whitelabel.updated', {
  source: 'api',
  summary: 'The brand of an organization changed',
  data,
})
