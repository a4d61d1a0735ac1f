import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { pageOf } from '../../http/paging.ts'
import * as errors from './migration.errors.ts'
import * as shapes from './migration.schemas.ts'
import type { MigrationService } from './migration.service.ts'

export const migrationRoutes =
  (jobs: MigrationService): FastifyPluginAsyncTypebox =>
  async (app) => {
    const starts = { auth: key('write'), errors: [errors.MailboxNotFound] }

    app.post('/import', {
      config: starts,
      schema: {
        operationId: 'start_migration_import',
        summary: 'Copy a mailbox of another server into one of this host',
        body: shapes.ImportRequest,
        response: { 201: shapes.JobStarted },
      },
      handler: async ({ caller, body }, reply) =>
        reply.code(201).send(await jobs.startImport(caller, body)),
    })

    app.post('/import/bulk', {
      config: starts,
      schema: {
        operationId: 'start_migration_imports',
        summary: 'Create migration jobs for many mailboxes, all or none',
        body: shapes.BulkImport,
        response: { 201: shapes.JobsStarted },
      },
      handler: async ({ caller, body }, reply) =>
        reply.code(201).send(await jobs.startImports(caller, body)),
    })

    app.post('/export', {
      config: starts,
      schema: {
        operationId: 'start_migration_export',
        summary: 'Copy a mailbox of this host to another server',
        body: shapes.ExportRequest,
        response: { 201: shapes.JobStarted },
      },
      handler: async ({ caller, body }, reply) =>
        reply.code(201).send(await jobs.startExport(caller, body)),
    })

    app.post('/export/bulk', {
      config: starts,
      schema: {
        operationId: 'start_migration_exports',
        summary: 'Create migration jobs for many mailboxes, all or none',
        body: shapes.BulkExport,
        response: { 201: shapes.JobsStarted },
      },
      handler: async ({ caller, body }, reply) =>
        reply.code(201).send(await jobs.startExports(caller, body)),
    })

    app.get('/jobs', {
      config: { auth: key('read') },
      schema: {
        operationId: 'list_migration_jobs',
        summary: 'Migration jobs, newest first',
        querystring: shapes.JobsQuery,
        response: { 200: shapes.JobList },
      },
      handler: ({ caller, query }) => jobs.list(caller, query, pageOf(query)),
    })

    app.get('/jobs/:job_id', {
      config: { auth: key('read'), errors: [errors.JobNotFound] },
      schema: {
        operationId: 'get_migration_job',
        summary: 'Progress of a migration job',
        params: shapes.JobParams,
        response: { 200: shapes.OneJob },
      },
      handler: ({ caller, params }) => jobs.get(caller, params.job_id),
    })

    app.get('/jobs/:job_id/errors', {
      config: { auth: key('read'), errors: [errors.JobNotFound] },
      schema: {
        operationId: 'list_migration_errors',
        summary: 'Errors of a job, newest first',
        params: shapes.JobParams,
        querystring: shapes.ErrorsQuery,
        response: { 200: shapes.ErrorList },
      },
      handler: ({ caller, params, query }) => jobs.errors(caller, params.job_id, pageOf(query)),
    })

    app.post('/jobs/:job_id/cancel', {
      config: { auth: key('write'), errors: [errors.JobNotFound, errors.JobHasEnded] },
      schema: {
        operationId: 'cancel_migration_job',
        summary: 'Stop a job; what it has copied stays',
        params: shapes.JobParams,
        response: { 200: shapes.JobCancelled },
      },
      handler: ({ caller, params }) => jobs.cancel(caller, params.job_id),
    })

    app.post('/jobs/:job_id/retry-failed', {
      config: {
        auth: key('write'),
        errors: [errors.JobNotFound, errors.JobNotEnded, errors.NothingFailed, errors.PairGone],
      },
      schema: {
        operationId: 'retry_failed_messages',
        summary: 'Create a job for the messages that failed',
        params: shapes.JobParams,
        body: shapes.Continuation,
        response: { 201: shapes.ChildStarted },
      },
      handler: async ({ caller, params, body }, reply) =>
        reply.code(201).send(await jobs.retryFailed(caller, params.job_id, body)),
    })

    app.post('/jobs/:job_id/delta', {
      config: {
        auth: key('write'),
        errors: [errors.JobNotFound, errors.JobNotCompleted, errors.PairGone],
      },
      schema: {
        operationId: 'start_migration_delta',
        summary: 'Create a job for what has changed since',
        params: shapes.JobParams,
        body: shapes.Continuation,
        response: { 201: shapes.ChildStarted },
      },
      handler: async ({ caller, params, body }, reply) =>
        reply.code(201).send(await jobs.delta(caller, params.job_id, body)),
    })

    app.get('/summary', {
      config: { auth: key('read') },
      schema: {
        operationId: 'get_migration_summary',
        summary: 'All jobs taken together',
        querystring: shapes.SummaryQuery,
        response: { 200: shapes.Summary },
      },
      handler: ({ caller, query }) => jobs.summary(caller, query.organization_id),
    })
  }
