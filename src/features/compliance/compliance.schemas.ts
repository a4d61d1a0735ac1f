import { Type } from 'typebox'

export const UserParams = Type.Object({
  user_email: Type.String({ maxLength: 254, examples: ['ada@acme.example'] }),
})

export const Reason = Type.String({
  minLength: 10,
  maxLength: 2000,
  description: 'Stored in the audit log',
  examples: ['Asked for by the legal department'],
})

export const RequestedBy = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Name or e-mail address of the person who requested it',
  examples: ['ada@acme.example'],
})
