import { Type } from 'typebox'
import { Body, Nullable, OneOf } from '../../http/envelope.ts'
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

const Step = OneOf(['open', 'done'], {
  description: 'open: a bootstrap token creates the first one',
})

export const BootstrapState = Type.Object({
  organization: Step,
  operator: Step,
  token_files: Type.Object(
    {
      organization: Nullable(Type.String({ examples: ['/var/lib/mailplane/bootstrap-token'] })),
      operator: Nullable(Type.String()),
    },
    { description: 'Files of the tokens on the host of the server; null once the step is done' },
  ),
})
