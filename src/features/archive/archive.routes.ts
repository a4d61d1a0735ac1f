import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key, operator } from '../../access/labels.ts'
import { Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import * as errors from './archive.errors.ts'
import * as shapes from './archive.schemas.ts'
import type { ArchiveService } from './archive.service.ts'

const downstream = 'Archive storage unavailable'
const reading = { auth: key('read'), errors: [OrganizationNotFound] }
const deciding = { auth: key('admin'), errors: [OrganizationNotFound] }

export const archiveRoutes =
  (archive: ArchiveService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/search', {
      config: reading,
      schema: {
        operationId: 'list_archived_messages',
        summary: 'Search the metadata of archived messages, newest first',
        querystring: shapes.SearchQuery,
        response: { 200: Success(Paginated(shapes.ArchivedMessage)) },
      },
      handler: async ({ caller, query }) => {
        const { page, per_page, ...search } = query
        const slice = pageOf({ ...(page && { page }), ...(per_page && { per_page }) })
        return success('Archive searched', await archive.search(caller, search, slice))
      },
    })

    app.get('/settings', {
      config: reading,
      schema: {
        operationId: 'get_archive_settings',
        summary: 'Settings, key and size of the archive of an organization',
        querystring: shapes.Whose,
        response: { 200: Success(shapes.Settings) },
      },
      handler: async ({ caller, query }) =>
        success('Archive settings retrieved', await archive.settings(caller, query)),
    })

    app.put('/settings', {
      config: deciding,
      schema: {
        operationId: 'update_archive_settings',
        summary: 'Switch the archive on or off, or change the key of the organization',
        querystring: shapes.Whose,
        body: shapes.NewSettings,
        response: { 200: Success(shapes.Settings) },
      },
      handler: async ({ caller, body, query }) =>
        success('Archive settings updated', await archive.changeSettings(caller, body, query)),
    })

    app.get('/jobs', {
      config: reading,
      schema: {
        operationId: 'list_archive_jobs',
        summary: 'List imports and re-keying, newest first',
        querystring: shapes.JobQuery,
        response: { 200: Success(Paginated(shapes.ArchiveJob)) },
      },
      handler: async ({ caller, query }) =>
        success('Archive jobs retrieved', await archive.listJobs(caller, query, pageOf(query))),
    })

    app.post('/jobs', {
      config: {
        auth: key('admin'),
        errors: [
          OrganizationNotFound,
          errors.MailboxNotFound,
          errors.ArchiveOff,
          errors.JobRunning,
        ],
      },
      schema: {
        operationId: 'start_archive_job',
        summary: 'Archive the existing mail of a mailbox, or seal the archive for the current keys',
        querystring: shapes.Whose,
        body: shapes.NewJob,
        response: { 201: Success(shapes.ArchiveJob) },
      },
      handler: async ({ caller, body, query }, reply) =>
        reply
          .code(201)
          .send(success('Archive job started', await archive.startJob(caller, body, query))),
    })

    app.get('/jobs/:archive_job_id', {
      config: { ...reading, errors: [...reading.errors, errors.JobNotFound] },
      schema: {
        operationId: 'get_archive_job',
        summary: 'Progress of an import or of re-keying',
        params: shapes.JobParams,
        querystring: shapes.Whose,
        response: { 200: Success(shapes.ArchiveJob) },
      },
      handler: async ({ caller, params, query }) =>
        success('Archive job retrieved', await archive.job(caller, params.archive_job_id, query)),
    })

    app.get('/spool', {
      config: { auth: operator('support') },
      schema: {
        operationId: 'get_archive_spool',
        summary: 'Messages that wait for their upload, and the last check of the archive',
        response: { 200: Success(shapes.SpoolStatus) },
      },
      handler: async () => success('Archive spool retrieved', await archive.status()),
    })

    app.post('/rekey', {
      config: { auth: operator('owner'), errors: [errors.ArchiveOff] },
      schema: {
        operationId: 'rekey_archive',
        summary: 'Seal the archives of all organizations for the current keys',
        body: shapes.NewKey,
        response: { 200: Success(shapes.JobsStarted) },
      },
      handler: async ({ caller, body }) =>
        success(
          'Re-keying started',
          await archive.sealAll(caller, body.new_platform_key ?? false, body.reason),
        ),
    })

    app.get('/:archive_id', {
      config: { ...reading, errors: [...reading.errors, errors.ArchivedMessageNotFound] },
      schema: {
        operationId: 'get_archived_message',
        summary: 'Metadata of an archived message',
        params: shapes.ArchiveParams,
        querystring: shapes.Whose,
        response: { 200: Success(shapes.ArchivedMessage) },
      },
      handler: async ({ caller, params, query }) =>
        success('Archived message retrieved', await archive.get(caller, params.archive_id, query)),
    })

    app.post('/:archive_id/restore', {
      config: {
        ...deciding,
        downstream,
        errors: [...deciding.errors, errors.ArchivedMessageNotFound, errors.ArchiveCorrupt],
      },
      schema: {
        operationId: 'restore_archived_message',
        summary: 'Read an archived message back, unchanged',
        params: shapes.ArchiveParams,
        querystring: shapes.Whose,
        body: shapes.Deliberate,
        produces: ['message/rfc822'],
      },
      handler: async ({ caller, params, body, query }, reply) => {
        const message = await archive.restore(caller, params.archive_id, body.reason, query)
        return reply
          .type('message/rfc822')
          .header('content-length', message.length)
          .header('content-disposition', `attachment; filename="${params.archive_id}.eml"`)
          .header('cache-control', 'no-store')
          .send(message)
      },
    })

    app.delete('/:archive_id', {
      config: {
        ...deciding,
        errors: [...deciding.errors, errors.ArchivedMessageNotFound, errors.ArchivedMessageHeld],
      },
      schema: {
        operationId: 'delete_archived_message',
        summary: 'Delete an archived message for good, unless a legal hold keeps it',
        params: shapes.ArchiveParams,
        querystring: shapes.Whose,
        body: shapes.Deliberate,
        response: { 200: Success(shapes.DeletedMessage) },
      },
      handler: async ({ caller, params, body, query }) =>
        success(
          'Archived message deleted',
          await archive.delete(caller, params.archive_id, body.reason, query),
        ),
    })
  }
