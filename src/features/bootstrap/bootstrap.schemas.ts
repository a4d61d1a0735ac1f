import { Type } from 'typebox'
import { Body } from '../../http/envelope.ts'
import { EMAIL_PATTERN } from '../../lib/email.ts'

export const BootstrapBody = Body({
  organization_name: Type.String({ minLength: 1, maxLength: 255, examples: ['Acme Mail'] }),
  admin_email: Type.String({
    pattern: EMAIL_PATTERN,
    maxLength: 254,
    description: 'Its domain part becomes the first domain',
    examples: ['admin@acme.example'],
  }),
  admin_password: Type.String({
    description: '12 characters or more, with letters and numbers, not a common one',
    examples: ['a-long-passphrase-1'],
  }),
})

export const Bootstrapped = Type.Object({
  organization_id: Type.String(),
  domain: Type.String({ examples: ['acme.example'] }),
  mailbox: Type.String({ examples: ['admin@acme.example'] }),
  api_key: Type.String({ description: 'Shown this once only' }),
})
