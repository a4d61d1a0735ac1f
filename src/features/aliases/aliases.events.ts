import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const Named = { alias_id: Type.String(), source: Type.String() }

export const AliasCreated = defineEvent('alias.created', {
  source: 'api',
  summary: 'An alias was created',
  data: Type.Object({ ...Named, destination: Type.String(), domain: Type.String() }),
})

export const AliasUpdated = defineEvent('alias.updated', {
  source: 'api',
  summary: 'The destinations of an alias were changed, or it was switched on or off',
  data: Type.Object({ ...Named, updated_fields: Type.Array(Type.String()) }),
})

export const AliasDeleted = defineEvent('alias.deleted', {
  source: 'api',
  summary: 'An alias was deleted',
  data: Type.Object(Named),
})
