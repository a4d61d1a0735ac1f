import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { mailboxSession } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import type { MailboxCapabilityService } from './capabilities.service.ts'

const Filters = Type.Boolean({
  description: 'Whether the filter service is there; looked at anew every minute',
})

const MailboxCapabilities = Type.Object(
  {
    email_address: Type.String({ examples: ['jane@acme.example'] }),
    capabilities: Type.Object({
      mail: Type.Boolean(),
      send: Type.Boolean(),
      settings: Type.Boolean(),
      two_factor: Type.Boolean(),
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
        summary: 'What the pages of this mailbox can offer; show nothing for the rest',
        response: { 200: Success(MailboxCapabilities) },
      },
      handler: async ({ caller }) => success('Capabilities', await capabilities.get(caller)),
    })
  }
