import { Type } from 'typebox'
import { defineEvent } from '../../../events/events.ts'

const Named = { operator_id: Type.String(), email: Type.String() }

export const OperatorPasswordChanged = defineEvent('operator.password.changed', {
  source: 'api',
  summary: 'An operator has a new password',
  data: Type.Object({
    ...Named,
    changed_by: Type.String({
      description: 'operator (with the old password) or link (after a reset)',
      examples: ['operator'],
    }),
    sessions_revoked: Type.Integer(),
  }),
})

export const OperatorPasswordReset = defineEvent('operator.password.reset_requested', {
  source: 'api',
  summary: 'An owner created a link to set a new password for an operator',
  data: Type.Object(Named),
})

export const OperatorRescued = defineEvent('operator.rescued', {
  source: 'api',
  summary: 'The second factor of an operator was cleared with a command on the host',
  data: Type.Object({ ...Named, sessions_revoked: Type.Integer() }),
})
