import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { mailboxSession } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { PageQuery, Paginated, pageOf } from '../../../http/paging.ts'
import { AppPasswordNotFound, TooManyAppPasswords } from './app-passwords.errors.ts'
import {
  AppPassword,
  AppPasswordBody,
  AppPasswordParams,
  AppPasswordRevoked,
  NewAppPassword,
} from './app-passwords.schemas.ts'
import type { AppPasswordService } from './app-passwords.service.ts'

export const appPasswordRoutes =
  (passwords: AppPasswordService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/app-passwords', {
      config: { auth: mailboxSession() },
      schema: {
        operationId: 'mailbox_app_passwords',
        summary: 'List the own app passwords, newest first',
        querystring: Type.Object(PageQuery),
        response: { 200: Success(Paginated(AppPassword)) },
      },
      handler: async ({ caller, query }) =>
        success('App passwords retrieved', await passwords.list(caller, pageOf(query))),
    })

    app.post('/app-passwords', {
      config: { auth: mailboxSession(), errors: [TooManyAppPasswords] },
      schema: {
        operationId: 'create_app_password',
        summary: 'Create a password for one mail program; it is shown once',
        description:
          'A mailbox with a second factor needs one for each mail program, because programs cannot send a code.',
        body: AppPasswordBody,
        response: { 201: Success(NewAppPassword) },
      },
      handler: async ({ caller, body }, reply) =>
        reply.code(201).send(success('App password created', await passwords.create(caller, body))),
    })

    app.delete('/app-passwords/:app_password_id', {
      config: { auth: mailboxSession(), errors: [AppPasswordNotFound] },
      schema: {
        operationId: 'revoke_app_password',
        summary: 'Revoke an app password; its program is refused from the next login on',
        params: AppPasswordParams,
        response: { 200: Success(AppPasswordRevoked) },
      },
      handler: async ({ caller, params }) =>
        success('App password revoked', await passwords.revoke(caller, params.app_password_id)),
    })
  }
