import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { mailboxSession } from '../../../access/labels.ts'
import { Nullable, Success, success, Timestamp } from '../../../http/envelope.ts'
import type { ProfileService } from './profile.service.ts'

const MailServer = Type.Object(
  {
    protocol: Type.Union([Type.Literal('imap'), Type.Literal('pop3'), Type.Literal('smtp')]),
    host: Type.String({ examples: ['mail.host.example'] }),
    port: Type.Integer({ examples: [993] }),
    encryption: Type.Union([Type.Literal('tls'), Type.Literal('starttls')]),
  },
  { title: 'MailServer' },
)

const Profile = Type.Object(
  {
    email_address: Type.String({ examples: ['jane@acme.example'] }),
    name: Nullable(Type.String({ examples: ['Jane Doe'] })),
    storage_used: Type.Integer({ description: 'Bytes' }),
    storage_quota: Type.Integer({
      description: 'Bytes; of the domain where the mailbox has none of its own. 0 = no limit',
    }),
    last_login: Nullable(Timestamp),
    must_change_password: Type.Boolean({
      description: 'Until the password is changed, other routes answer 403',
    }),
    password_change_reason: Nullable(Type.String()),
    servers: Type.Array(MailServer, {
      description: 'For mail programs; the user name is the address',
    }),
  },
  { title: 'MailboxProfile' },
)

export const profileRoutes =
  (profile: ProfileService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/profile', {
      config: { auth: mailboxSession({ oldPasswordToo: true }) },
      schema: {
        operationId: 'mailbox_profile',
        summary: 'The own mailbox: name, storage, last sign-in, settings for mail programs',
        response: { 200: Success(Profile) },
      },
      handler: async ({ caller }) =>
        success('Profile retrieved successfully', await profile.get(caller)),
    })
  }
