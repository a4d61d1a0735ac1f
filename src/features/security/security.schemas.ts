import { Type } from 'typebox'
import { Body } from '../../http/envelope.ts'

/** Every change says why. */
export const reason = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: 'Kept in the audit trail',
  examples: ['Password spraying against acme.example'],
})

export const Reason = Body({ reason })

export const exact = (description = 'Exact') => Type.Optional(Type.String({ description }))
