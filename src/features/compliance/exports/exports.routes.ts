import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated } from '../../../http/paging.ts'
import {
  ExportDamaged,
  ExportExpired,
  ExportNotFound,
  ExportNotReady,
  IsSharedMailbox,
  NothingStored,
} from '../compliance.errors.ts'
import { UserParams } from '../compliance.schemas.ts'
import { DataExport, ExportParams, NewExport } from './exports.schemas.ts'
import type { ExportService } from './exports.service.ts'

export const exportRoutes =
  (exports: ExportService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/data-export/:user_email', {
      config: { auth: operator('owner'), errors: [NothingStored, IsSharedMailbox] },
      schema: {
        operationId: 'request_data_export',
        summary: 'Request an archive of the stored data of a person',
        params: UserParams,
        body: NewExport,
        response: { 201: Success(DataExport) },
      },
      handler: async ({ caller, params, body }, reply) => {
        const requested = await exports.request(caller, params.user_email, body)
        return reply.code(201).send(success('Data export requested', requested))
      },
    })

    app.get('/data-export/:user_email/status', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'get_data_export_status',
        summary: 'List the ten newest exports of a person',
        params: UserParams,
        response: { 200: Success(Paginated(DataExport)) },
      },
      handler: async ({ params }) =>
        success('Data exports retrieved', await exports.status(params.user_email)),
    })

    app.get('/data-export/:user_email/download/:export_id', {
      config: {
        auth: operator('owner'),
        errors: [ExportNotFound, ExportNotReady, ExportExpired, ExportDamaged],
      },
      schema: {
        operationId: 'download_data_export',
        summary: 'Download the archive',
        params: ExportParams,
        produces: ['application/zip'],
      },
      handler: async ({ caller, params }, reply) => {
        const archive = await exports.download(caller, params.user_email, params.export_id)
        return reply
          .type('application/zip')
          .header('content-length', archive.sizeBytes)
          .header('content-disposition', `attachment; filename="${archive.fileName}"`)
          .header('cache-control', 'no-store')
          .send(archive.content)
      },
    })
  }
