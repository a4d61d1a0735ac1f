import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { SystemMailServer, TestRequest, TestResult } from './system-mail.schemas.ts'
import type { SystemMailService } from './system-mail.service.ts'

export const systemMailRoutes =
  (systemMail: SystemMailService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'get_system_mail_server',
        summary: 'The server that invitations, resets, alerts and notices go to',
        response: { 200: Success(SystemMailServer) },
      },
      handler: async () => success('System mail server retrieved', systemMail.server()),
    })

    app.post('/test', {
      config: { auth: operator('operator') },
      schema: {
        operationId: 'test_system_mail',
        summary: 'Send a test mail the way that invitations, resets, alerts and notices go',
        body: TestRequest,
        response: { 200: Success(TestResult) },
      },
      handler: async ({ body }) => {
        const result = await systemMail.test(body.to)
        return success(result.sent ? 'Test mail sent' : 'Test mail was not sent', result)
      },
    })
  }
