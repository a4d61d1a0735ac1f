import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { DeletedMailbox, DeletedQuery } from './deleted-mailboxes.schemas.ts'
import type { DeletedMailboxService } from './deleted-mailboxes.service.ts'

export const deletedMailboxRoutes =
  (deleted: DeletedMailboxService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'list_deleted_mailboxes',
        summary: 'Deleted mailboxes whose mail is still on disk, and when it will be removed',
        querystring: DeletedQuery,
        response: { 200: Success(Paginated(DeletedMailbox)) },
      },
      handler: async ({ query: { page, per_page, ...filter } }) =>
        success(
          'Deleted mailboxes retrieved',
          await deleted.list(filter, pageOf({ page, per_page })),
        ),
    })
  }
