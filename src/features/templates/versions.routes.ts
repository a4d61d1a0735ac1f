import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { key } from '../../access/labels.ts'
import { WORK_ERRORS } from '../../errors.ts'
import { Success, success } from '../../http/envelope.ts'
import { TemplateNotFound, TemplatesFull, VersionNotFound } from './templates.errors.ts'
import * as shapes from './templates.schemas.ts'
import type { TemplateService } from './templates.service.ts'

const notFound = [TemplateNotFound, VersionNotFound]

export const versionRoutes =
  (templates: TemplateService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/:template_id/versions', {
      config: { auth: key('read'), errors: [TemplateNotFound] },
      schema: {
        operationId: 'list_template_versions',
        summary: 'The last 100 versions of a template, newest first',
        params: shapes.TemplateParams,
        response: { 200: Success(Type.Object({ versions: Type.Array(shapes.TemplateVersion) })) },
      },
      handler: async ({ caller, params }) =>
        success('Versions retrieved', {
          versions: await templates.versions(caller, params.template_id),
        }),
    })

    app.get('/:template_id/versions/:version', {
      config: { auth: key('read'), errors: notFound },
      schema: {
        operationId: 'get_template_version',
        summary: 'Get a version of a template with its texts',
        params: shapes.VersionParams,
        response: { 200: Success(shapes.WholeVersion) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Version retrieved',
          await templates.version(caller, params.template_id, params.version),
        ),
    })

    app.get('/:template_id/versions/:version/diff', {
      config: { auth: key('read'), errors: [...notFound, ...WORK_ERRORS] },
      schema: {
        operationId: 'get_template_changes',
        summary: 'Compare a version with another one, line by line',
        params: shapes.VersionParams,
        querystring: shapes.DiffQuery,
        response: { 200: Success(shapes.TemplateDiff) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Versions compared',
          await templates.compare(caller, params.template_id, params.version, query.against),
        ),
    })

    app.post('/:template_id/versions/:version/restore', {
      config: { auth: key('write'), errors: [...notFound, TemplatesFull] },
      schema: {
        operationId: 'restore_template_version',
        summary: 'Make the texts of an old version the newest version',
        params: shapes.VersionParams,
        response: { 200: Success(shapes.Template) },
      },
      handler: async ({ caller, params }) =>
        success(
          'Version restored',
          await templates.restore(caller, params.template_id, params.version),
        ),
    })
  }
