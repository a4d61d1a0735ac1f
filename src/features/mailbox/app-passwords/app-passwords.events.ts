import { Type } from 'typebox'
import { defineEvent } from '../../../events/events.ts'

const Named = {
  account_id: Type.String(),
  email: Type.String(),
  organization_id: Type.String(),
  app_password_id: Type.String({ examples: ['01K9ZQ5T3M8B7C6D5E4F3G2H1K'] }),
  name: Type.String({ examples: ['Phone'] }),
}

export const AppPasswordCreated = defineEvent('mailbox.app_password.created', {
  source: 'api',
  summary: 'The holder of a mailbox made a password for one mail program',
  data: Type.Object({
    ...Named,
    scopes: Type.Array(Type.String(), { examples: [['imap', 'smtp']] }),
  }),
})

export const AppPasswordRevoked = defineEvent('mailbox.app_password.revoked', {
  source: 'api',
  summary: 'The holder of a mailbox revoked the password of a mail program',
  data: Type.Object(Named),
})
