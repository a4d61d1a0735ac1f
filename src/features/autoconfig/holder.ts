import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { mailboxSession } from '../../access/labels.ts'
import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { holderOf } from '../mailbox/holder.ts'
import { sendProfile } from './autoconfig.routes.ts'
import { profileOf } from './autoconfig.service.ts'

/** The profile on the holder's own pages. */
export const holderProfile = (core: Core): Feature => ({
  prefix: '/api/v1/mailbox',
  routes: holderRoutes(core),
  capabilities: ['mail_program_setup'],
})

const holderRoutes =
  (core: Core): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/apple-profile', {
      config: { auth: mailboxSession() },
      schema: {
        operationId: 'mailbox_apple_profile',
        summary:
          'A profile that sets up the own mailbox on iPhone, iPad and Mac; without a password',
        produces: ['application/x-apple-aspen-config'],
      },
      handler: async ({ caller }, reply) =>
        sendProfile(reply, await profileOf(core, holderOf(caller).email)),
    })
  }
