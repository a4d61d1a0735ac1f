import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Done, done, Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import {
  LastProxy,
  MailHostInUse,
  MailHostNameTaken,
  MailHostNotFound,
  MailHostSilent,
  NoOtherBackend,
  NotABackend,
} from './mail-hosts.errors.ts'
import {
  Drained,
  MailHost,
  MailHostChange,
  MailHostParams,
  MailHostQuery,
  NewMailHost,
} from './mail-hosts.schemas.ts'
import type { MailHostService } from './mail-hosts.service.ts'

export const mailHostRoutes =
  (hosts: MailHostService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_mail_hosts',
        summary: 'List mail hosts by name; none when the installation has one host',
        querystring: MailHostQuery,
        response: { 200: Success(Paginated(MailHost)) },
      },
      handler: async ({ query }) =>
        success('Mail hosts retrieved', await hosts.list(pageOf(query))),
    })

    app.post('', {
      config: { auth: operator('admin'), errors: [MailHostNameTaken] },
      schema: {
        operationId: 'create_mail_host',
        summary: 'Add a mail host; the first backend has all existing mailboxes',
        body: NewMailHost,
        response: { 201: Success(MailHost) },
      },
      handler: async (request, reply) => {
        const created = await hosts.create(request.caller, request.body)
        return reply.code(201).send(success('Mail host created', created))
      },
    })

    app.get('/:host_id', {
      config: { auth: operator('support'), errors: [MailHostNotFound] },
      schema: {
        operationId: 'get_mail_host',
        summary: 'Get a mail host',
        params: MailHostParams,
        response: { 200: Success(MailHost) },
      },
      handler: async ({ params }) =>
        success('Mail host retrieved', await hosts.get(params.host_id)),
    })

    app.put('/:host_id', {
      config: { auth: operator('admin'), errors: [MailHostNotFound, MailHostSilent] },
      schema: {
        operationId: 'update_mail_host',
        summary: 'Change the addresses or the state of a mail host',
        params: MailHostParams,
        body: MailHostChange,
        response: { 200: Success(MailHost) },
      },
      handler: async ({ caller, params, body }) =>
        success('Mail host updated', await hosts.update(caller, params.host_id, body)),
    })

    app.delete('/:host_id', {
      config: { auth: operator('admin'), errors: [MailHostNotFound, MailHostInUse, LastProxy] },
      schema: {
        operationId: 'delete_mail_host',
        summary: 'Remove a mail host that has no mailboxes',
        params: MailHostParams,
        response: { 200: Done },
      },
      handler: async ({ caller, params }) => {
        await hosts.remove(caller, params.host_id)
        return done('Mail host deleted')
      },
    })

    app.post('/:host_id/drain', {
      config: {
        auth: operator('admin'),
        errors: [MailHostNotFound, NotABackend, NoOtherBackend],
      },
      schema: {
        operationId: 'drain_mail_host',
        summary: 'Move all mailboxes of a backend to the others',
        params: MailHostParams,
        response: { 200: Success(Drained) },
      },
      handler: async ({ caller, params }) =>
        success('Mail host is draining', await hosts.drain(caller, params.host_id)),
    })
  }
