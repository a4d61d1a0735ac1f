import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const script = { script_name: Type.String(), email: Type.String() }

export const FilterCreated = defineEvent('filter.created', {
  source: 'api',
  summary: 'A filter script of a mailbox was created or replaced',
  data: Type.Object({ ...script, active: Type.Boolean() }),
})

export const FilterUpdated = defineEvent('filter.updated', {
  source: 'api',
  summary: 'A filter script of a mailbox was activated',
  data: Type.Object({ ...script, action: Type.String({ examples: ['activated'] }) }),
})

export const FilterDeleted = defineEvent('filter.deleted', {
  source: 'api',
  summary: 'A filter script of a mailbox was deleted',
  data: Type.Object(script),
})
