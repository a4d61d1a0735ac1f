import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { WORK_ERRORS } from '../../errors.ts'
import { Success, success } from '../../http/envelope.ts'
import { SenderNotAllowed, TooManyWaiting } from '../messages/sending/sending.errors.ts'
import { Accepted, TemplateSendBody, TestSendBody } from '../messages/sending/sending.schemas.ts'
import type { TemplateSendingService } from './template-sending.service.ts'
import { TemplateNotFound, TemplateRefused } from './templates.errors.ts'
import { TemplateParams } from './templates.schemas.ts'

/** Attachments of 10 MB in base64, and variables. */
const MAX_SEND_BODY = 20 * 1024 * 1024
const errors = [TemplateNotFound, TemplateRefused, SenderNotAllowed, TooManyWaiting, ...WORK_ERRORS]

export const templateSendingRoutes =
  (sending: TemplateSendingService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/:template_id/send', {
      bodyLimit: MAX_SEND_BODY,
      config: { auth: key('write'), errors },
      schema: {
        operationId: 'send_template',
        summary: 'Send a template to up to 1,000 recipients, to each with variables of its own',
        description:
          'The messages are stored before the answer, and handed to the mail server afterwards. When one of them cannot be rendered, none is sent.',
        params: TemplateParams,
        body: TemplateSendBody,
        response: { 202: Success(Accepted) },
      },
      handler: async ({ caller, params, body }, reply) => {
        const accepted = await sending.send(caller, params.template_id, body)
        return reply.code(202).send(success('Messages accepted', accepted))
      },
    })

    app.post('/:template_id/test', {
      config: { auth: key('write'), errors },
      schema: {
        operationId: 'test_template',
        summary: 'Send a template to one address, to look at it in a mail program',
        params: TemplateParams,
        body: TestSendBody,
        response: { 202: Success(Accepted) },
      },
      handler: async ({ caller, params, body }, reply) => {
        const { from, to, variables = {} } = body
        const accepted = await sending.send(caller, params.template_id, {
          from,
          recipients: [{ to, variables }],
        })
        return reply.code(202).send(success('Test message accepted', accepted))
      },
    })
  }
