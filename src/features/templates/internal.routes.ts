import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Caller } from '../../access/caller.ts'
import { internal } from '../../access/labels.ts'
import { Body } from '../../http/envelope.ts'
import { pageOf } from '../../http/paging.ts'
import { library } from './library.ts'
import {
  NewTemplate,
  RenderBody,
  TemplateChange,
  TemplateParams,
  TemplateQuery,
} from './templates.schemas.ts'
import type { TemplateService } from './templates.service.ts'

const MAX_BODY_BYTES = 2 * 1024 * 1024

const organization_id = Type.String({ minLength: 1, maxLength: 255 })
const Owner = Type.Object({ organization_id })
const OwnedQuery = Type.Object({ ...TemplateQuery.properties, organization_id })
const DuplicateQuery = Type.Object({
  organization_id,
  new_name: Type.String({ minLength: 1, maxLength: 255 }),
})

/** The calling service is trusted to name the organization; it gets the rights of that one only. */
const onBehalf = (caller: Caller, organizationId: string): Caller => ({
  ...caller,
  organizationId,
  scope: { organization: organizationId },
})

/** Called by other services of this installation; not part of the public API. */
export const internalRoutes =
  (templates: TemplateService): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { auth: internal() }
    const one = { hide: true, params: TemplateParams, querystring: Owner }

    app.post('/templates', {
      config,
      bodyLimit: MAX_BODY_BYTES,
      schema: { hide: true, body: Body({ ...NewTemplate.properties, organization_id }) },
      handler: async ({ caller, body }) =>
        templates.create(onBehalf(caller, body.organization_id), body),
    })

    app.get('/templates', {
      config,
      schema: { hide: true, querystring: OwnedQuery },
      handler: async ({ caller, query }) =>
        (await templates.list(onBehalf(caller, query.organization_id), query, pageOf(query))).items,
    })

    app.get('/templates/library', {
      config,
      schema: { hide: true },
      handler: async () => library,
    })

    app.get('/templates/:template_id', {
      config,
      schema: one,
      handler: async ({ caller, params, query }) =>
        templates.get(onBehalf(caller, query.organization_id), params.template_id),
    })

    app.put('/templates/:template_id', {
      config,
      bodyLimit: MAX_BODY_BYTES,
      schema: { ...one, body: TemplateChange },
      handler: async ({ caller, params, query, body }) =>
        templates.update(onBehalf(caller, query.organization_id), params.template_id, body),
    })

    app.delete('/templates/:template_id', {
      config,
      schema: one,
      handler: async ({ caller, params, query }) => {
        await templates.remove(onBehalf(caller, query.organization_id), params.template_id)
        return { status: 'ok', message: 'Template deleted' }
      },
    })

    app.post('/templates/:template_id/render', {
      config,
      schema: { ...one, body: RenderBody },
      handler: async ({ caller, params, query, body }) => {
        const { variables, format = 'both', strict = false } = body
        const owner = onBehalf(caller, query.organization_id)
        const options = { format, strict }
        return {
          status: 'ok',
          ...(await templates.render(owner, params.template_id, variables, options)),
        }
      },
    })

    app.post('/templates/:template_id/duplicate', {
      config,
      schema: { ...one, querystring: DuplicateQuery },
      handler: async ({ caller, params, query }) =>
        templates.duplicate(
          onBehalf(caller, query.organization_id),
          params.template_id,
          query.new_name,
        ),
    })

    app.get('/templates/:template_id/versions', {
      config,
      schema: one,
      handler: async ({ caller, params, query }) =>
        templates.versions(onBehalf(caller, query.organization_id), params.template_id),
    })

    app.get('/templates/:template_id/stats', {
      config,
      schema: one,
      handler: async ({ caller, params, query }) =>
        templates.stats(onBehalf(caller, query.organization_id), params.template_id),
    })
  }
