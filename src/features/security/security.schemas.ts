import { Type } from 'typebox'
import { Body } from '../../http/envelope.ts'

export const reason = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: 'Stored in the audit log',
  examples: ['Password spraying against acme.example'],
})

export const Reason = Body({ reason })

export const exact = (description = 'Exact') => Type.Optional(Type.String({ description }))
