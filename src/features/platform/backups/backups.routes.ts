import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { Paginated, pageOf } from '../../../http/paging.ts'
import { BackupHostNotFound } from './backups.errors.ts'
import {
  BackupHostParams,
  BackupHostRemoval,
  BackupHostRemoved,
  BackupQuery,
  BackupRecorded,
  BackupReport,
  BackupRun,
  BackupStatus,
} from './backups.schemas.ts'
import type { BackupsService } from './backups.service.ts'

export const backupsRoutes =
  (backups: BackupsService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'list_backups',
        summary: 'List backup runs, newest first',
        querystring: BackupQuery,
        response: { 200: Success(Paginated(BackupRun)) },
      },
      handler: async ({ query: { sort, direction, ...query } }) => {
        const order = { by: sort ?? 'started_at', direction: direction ?? 'desc' } as const
        return success('Backup runs retrieved', await backups.list(query, order, pageOf(query)))
      },
    })

    app.get('/status', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'backup_status',
        summary: 'Backup status: totals, newest runs, and the age of the last backup per host',
        response: { 200: Success(BackupStatus) },
      },
      handler: async () => success('Backup status retrieved', await backups.status()),
    })

    app.delete('/hosts/:hostname', {
      config: { auth: operator('admin'), errors: [BackupHostNotFound] },
      schema: {
        operationId: 'forget_backup_host',
        summary: 'Forget a host that is retired or was mistyped, with the records of its runs',
        params: BackupHostParams,
        body: BackupHostRemoval,
        response: { 200: Success(BackupHostRemoved) },
      },
      handler: async ({ caller, params }) =>
        success('Backup host forgotten', await backups.forgetHost(caller, params.hostname)),
    })

    app.post('/report', {
      config: { auth: operator('admin') },
      schema: {
        operationId: 'report_backup',
        summary: 'Report the start or the end of a backup run',
        body: BackupReport,
        response: { 200: Success(BackupRecorded) },
      },
      handler: async ({ caller, body }) => {
        const { backup_type = 'full', target = 'all', encrypted = true, ...report } = body
        const recorded = await backups.report(caller, { ...report, backup_type, target, encrypted })
        return success('Backup run recorded', recorded)
      },
    })
  }
