import { Type } from 'typebox'

export const UserParams = Type.Object({
  user_email: Type.String({ maxLength: 254, examples: ['ada@acme.example'] }),
})

/** Why something is done, for whoever reads the trail later. */
export const Reason = Type.String({
  minLength: 10,
  maxLength: 2000,
  description: 'Kept in the audit trail',
  examples: ['Asked for by the legal department'],
})

export const RequestedBy = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Who wants it, in words or as an address',
  examples: ['ada@acme.example'],
})
