import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { Unprocessable } from '../../../errors.ts'
import { Success, success } from '../../../http/envelope.ts'
import * as shapes from './bulk.schemas.ts'
import type { BulkMailboxService } from './bulk.service.ts'

export const bulkMailboxRoutes =
  (bulk: BulkMailboxService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/email-accounts/bulk', {
      config: { auth: key('write'), validation: 'handler', errors: [Unprocessable] },
      schema: {
        operationId: 'create_email_accounts',
        summary: 'Create up to 500 mailboxes, each on its own',
        description:
          'A mailbox that cannot be created does not stop the others; each has its result. With an `Idempotency-Key` a repeated request gets the stored answer. When the server was stopped in the middle, the mailboxes of the first attempt are reported as existing.',
        body: shapes.BulkBody,
        response: { 200: Success(shapes.BulkResult) },
      },
      handler: async ({ caller, body }) =>
        success('Bulk email account creation completed', await bulk.create(caller, body)),
    })
  }
