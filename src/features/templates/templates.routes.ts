import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { WORK_ERRORS } from '../../errors.ts'
import { Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import { library } from './library.ts'
import * as errors from './templates.errors.ts'
import * as shapes from './templates.schemas.ts'
import type { TemplateService } from './templates.service.ts'

/** Three texts of 200 KB may double in JSON. */
const MAX_TEMPLATE_BODY = 2 * 1024 * 1024
const MAX_SETS_BODY = 8 * 1024 * 1024

const saving = [errors.TemplateRefused, errors.TemplatesFull, ...WORK_ERRORS]
const reading = [errors.TemplateNotFound]
const rendering = [errors.TemplateNotFound, errors.TemplateRefused, ...WORK_ERRORS]

export const templateRoutes =
  (templates: TemplateService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: key('read') },
      schema: {
        operationId: 'list_templates',
        summary: 'Templates, last changed first, without their texts',
        querystring: shapes.TemplateQuery,
        response: { 200: Success(Paginated(shapes.TemplateSummary)) },
      },
      handler: async ({ caller, query }) =>
        success('Templates retrieved', await templates.list(caller, query, pageOf(query))),
    })

    app.post('/', {
      prefixTrailingSlash: 'slash',
      bodyLimit: MAX_TEMPLATE_BODY,
      config: {
        auth: key('write'),
        errors: [errors.OrganizationRequired, OrganizationNotFound, ...saving],
      },
      schema: {
        operationId: 'create_template',
        summary: 'Create a template',
        body: shapes.NewTemplate,
        response: { 201: Success(shapes.SavedTemplate) },
      },
      handler: async ({ caller, body }, reply) => {
        const template = await templates.create(caller, body)
        return reply.code(201).send(success('Template created', template))
      },
    })

    app.get('/library', {
      config: { auth: key('read') },
      schema: {
        operationId: 'list_starter_templates',
        summary: 'Built-in templates to start from',
        response: { 200: Success(shapes.Library) },
      },
      handler: async () => success('Library retrieved', { templates: [...library] }),
    })

    app.post('/preview', {
      bodyLimit: MAX_TEMPLATE_BODY,
      config: { auth: key('read'), errors: [errors.TemplateRefused, ...WORK_ERRORS] },
      schema: {
        operationId: 'render_unsaved_template',
        summary: 'Render texts that are not stored',
        body: shapes.PreviewBody,
        response: { 200: Success(shapes.Preview) },
      },
      handler: async ({ caller, body }) => {
        const { variables = {}, strict = false, ...texts } = body
        return success(
          'Template rendered',
          await templates.preview(caller, texts, variables, strict),
        )
      },
    })

    app.get('/:template_id', {
      config: { auth: key('read'), errors: reading },
      schema: {
        operationId: 'get_template',
        summary: 'Get a template',
        params: shapes.TemplateParams,
        response: { 200: Success(shapes.Template) },
      },
      handler: async ({ caller, params }) =>
        success('Template retrieved', await templates.get(caller, params.template_id)),
    })

    app.put('/:template_id', {
      bodyLimit: MAX_TEMPLATE_BODY,
      config: { auth: key('write'), errors: [...reading, ...saving] },
      schema: {
        operationId: 'update_template',
        summary: 'Change a template, which makes a new version',
        description:
          'Plain text is made from the HTML again when the HTML changes and no plain text is sent.',
        params: shapes.TemplateParams,
        body: shapes.TemplateChange,
        response: { 200: Success(shapes.SavedTemplate) },
      },
      handler: async ({ caller, params, body }) =>
        success('Template updated', await templates.update(caller, params.template_id, body)),
    })

    app.delete('/:template_id', {
      config: { auth: key('write'), errors: reading },
      schema: {
        operationId: 'delete_template',
        summary: 'Delete a template with its versions; its figures stay',
        params: shapes.TemplateParams,
        response: { 200: Success(shapes.TemplateDeleted) },
      },
      handler: async ({ caller, params }) =>
        success('Template deleted', await templates.remove(caller, params.template_id)),
    })

    app.post('/:template_id/duplicate', {
      config: { auth: key('write'), errors: [...reading, ...saving] },
      schema: {
        operationId: 'duplicate_template',
        summary: 'Copy a template under another name',
        params: shapes.TemplateParams,
        body: shapes.DuplicateBody,
        response: { 201: Success(shapes.SavedTemplate) },
      },
      handler: async ({ caller, params, body }, reply) => {
        const copy = await templates.duplicate(caller, params.template_id, body.new_name)
        return reply.code(201).send(success('Template duplicated', copy))
      },
    })

    app.post('/:template_id/render', {
      config: { auth: key('read'), errors: rendering },
      schema: {
        operationId: 'render_template',
        summary: 'Render a template with variables',
        params: shapes.TemplateParams,
        body: shapes.RenderBody,
        response: { 200: Success(shapes.Rendered) },
      },
      handler: async ({ caller, params, body }) => {
        const { variables, format = 'both', strict = false } = body
        const options = { format, strict }
        return success(
          'Template rendered',
          await templates.render(caller, params.template_id, variables, options),
        )
      },
    })

    app.post('/:template_id/render-many', {
      bodyLimit: MAX_SETS_BODY,
      config: { auth: key('read'), errors: rendering },
      schema: {
        operationId: 'render_template_many',
        summary: 'Render a template with up to 1,000 sets of variables, in their order',
        description: 'A problem with one set ends the request; the message has its place, from 0.',
        params: shapes.TemplateParams,
        body: shapes.RenderManyBody,
        response: { 200: Success(shapes.RenderedMany) },
      },
      handler: async ({ caller, params, body }) => {
        const { sets, format = 'both', strict = false } = body
        const options = { format, strict }
        const results = await templates.renderMany(caller, params.template_id, sets, options)
        return success('Template rendered', { results })
      },
    })

    app.get('/:template_id/stats', {
      config: { auth: key('read'), errors: reading },
      schema: {
        operationId: 'get_template_stats',
        summary: 'Number of times that a template was rendered',
        params: shapes.TemplateParams,
        response: { 200: Success(shapes.TemplateStats) },
      },
      handler: async ({ caller, params }) =>
        success('Statistics retrieved', await templates.stats(caller, params.template_id)),
    })
  }
