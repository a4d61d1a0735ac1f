import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { mailboxSession } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import type { MailboxCapabilityService } from './capabilities.service.ts'

const Filters = Type.Boolean({
  description: 'The filter service answers; checked every minute',
})

const MailboxCapabilities = Type.Object(
  {
    email_address: Type.String({ examples: ['jane@acme.example'] }),
    capabilities: Type.Object({
      mail: Type.Boolean({
        description: 'Mail can be read over JMAP: the service runs, and the mail server answers',
      }),
      send: Type.Boolean({
        description: 'Mail can be sent over JMAP: `mail`, and the mail server takes messages',
      }),
      settings: Type.Boolean(),
      two_factor: Type.Boolean(),
      app_passwords: Type.Boolean(),
      grants: Type.Boolean({ description: 'Programs that signed in through the browser' }),
      encryption: Type.Boolean({ description: 'Own keys, and encrypted delivery' }),
      rules: Filters,
      forwarding: Filters,
      vacation: Filters,
      ai: Type.Boolean(),
    }),
  },
  { title: 'MailboxCapabilities' },
)

export const mailboxCapabilityRoutes =
  (capabilities: MailboxCapabilityService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/capabilities', {
      config: { auth: mailboxSession() },
      schema: {
        operationId: 'mailbox_capabilities',
        summary: 'Capabilities available to this mailbox; hide everything else',
        response: { 200: Success(MailboxCapabilities) },
      },
      handler: async ({ caller }) => success('Capabilities', await capabilities.get(caller)),
    })
  }
