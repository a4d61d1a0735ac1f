import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { LogLines, LogsQuery } from './logs.schemas.ts'
import { type LogsService, LogsUnavailable } from './logs.service.ts'

export const logsRoutes =
  (logs: LogsService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('support'), errors: [LogsUnavailable] },
      schema: {
        operationId: 'tail_logs',
        summary: 'List the newest log lines of the services and the mail servers, oldest first',
        querystring: LogsQuery,
        response: { 200: Success(LogLines) },
      },
      handler: async ({ query }) => success('Log lines retrieved', await logs.tail(query)),
    })
  }
