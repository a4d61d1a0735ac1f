import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../access/labels.ts'
import { Unprocessable } from '../../errors.ts'
import { Success, success } from '../../http/envelope.ts'
import { Paginated, pageOf } from '../../http/paging.ts'
import { READ_ERRORS, SAVE_ERRORS } from '../mailbox/script-store/script-store.ts'
import * as errors from './filters.errors.ts'
import * as shapes from './filters.schemas.ts'
import type { FilterService } from './filters.service.ts'
import type { TenantVacationService } from './vacation.service.ts'

const CONFLICTS = [errors.HolderScriptActive]

export const filterRoutes =
  (filters: FilterService, vacations: TenantVacationService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/', {
      prefixTrailingSlash: 'slash',
      config: { auth: key('read'), errors: [errors.AccountNotFound, ...READ_ERRORS] },
      schema: {
        operationId: 'list_filters',
        summary: 'List the scripts of a mailbox, sorted by name',
        querystring: shapes.FilterListQuery,
        response: { 200: Success(Paginated(shapes.Script)) },
      },
      handler: async ({ caller, query }) =>
        success(
          'Filters retrieved successfully',
          await filters.list(caller, query.email, pageOf(query)),
        ),
    })

    app.get('/templates', {
      config: { auth: key('read') },
      schema: {
        operationId: 'list_filter_templates',
        summary: 'List the script templates',
        querystring: shapes.TemplateQuery,
        response: { 200: Success(Paginated(shapes.Template)) },
      },
      handler: async ({ query }) =>
        success('Filter templates retrieved successfully', filters.templates(pageOf(query))),
    })

    app.get('/:name', {
      config: {
        auth: key('read'),
        errors: [errors.AccountNotFound, errors.ScriptNotFound, ...READ_ERRORS],
      },
      schema: {
        operationId: 'get_filter',
        summary: 'Get a script of a mailbox',
        params: shapes.FilterParams,
        querystring: shapes.FilterQuery,
        response: { 200: Success(shapes.Script) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          'Filter retrieved successfully',
          await filters.get(caller, query.email, params.name),
        ),
    })

    app.post('/', {
      prefixTrailingSlash: 'slash',
      config: {
        auth: key('write'),
        errors: [
          errors.InvalidScriptName,
          errors.ReservedScriptName,
          errors.AccountNotFound,
          ...CONFLICTS,
          ...SAVE_ERRORS,
        ],
      },
      schema: {
        operationId: 'save_filter',
        summary: 'Create a script of a mailbox, or replace the script with this name',
        querystring: shapes.FilterQuery,
        body: shapes.NewScript,
        response: { 200: Success(shapes.SavedScript) },
      },
      handler: async ({ caller, query, body }) =>
        success(`Script '${body.name}' saved`, await filters.save(caller, query.email, body)),
    })

    app.post('/vacation', {
      config: {
        auth: key('write'),
        errors: [errors.AccountNotFound, Unprocessable, ...CONFLICTS, ...SAVE_ERRORS],
      },
      schema: {
        operationId: 'set_filter_vacation',
        summary: 'Set the vacation responder of a mailbox, or turn it off',
        querystring: shapes.FilterQuery,
        body: shapes.VacationBody,
        response: { 200: Success(shapes.VacationState) },
      },
      handler: async ({ caller, query, body }) =>
        success(
          `Vacation responder ${body.enabled ? 'enabled' : 'disabled'}`,
          await vacations.set(caller, query.email, body),
        ),
    })

    app.put('/:name/activate', {
      config: {
        auth: key('write'),
        errors: [
          errors.ReservedScriptName,
          errors.AccountNotFound,
          errors.ScriptNotFound,
          ...CONFLICTS,
          ...SAVE_ERRORS,
        ],
      },
      schema: {
        operationId: 'activate_filter',
        summary: "Activate a script of a mailbox, in addition to the holder's own settings",
        params: shapes.FilterParams,
        querystring: shapes.FilterQuery,
        body: shapes.ActivateBody,
        response: { 200: Success(shapes.SavedScript) },
      },
      handler: async ({ caller, params, query, body }) =>
        success(
          `Script '${params.name}' is now active`,
          await filters.activate(caller, query.email, params.name, body?.replace),
        ),
    })

    app.delete('/:name', {
      config: {
        auth: key('write'),
        errors: [
          errors.ReservedScriptName,
          errors.AccountNotFound,
          errors.ScriptNotFound,
          ...SAVE_ERRORS,
        ],
      },
      schema: {
        operationId: 'delete_filter',
        summary: 'Delete a script of a mailbox; an active script is deactivated first',
        params: shapes.FilterParams,
        querystring: shapes.FilterQuery,
        response: { 200: Success(shapes.DeletedScript) },
      },
      handler: async ({ caller, params, query }) =>
        success(
          `Script '${params.name}' deleted`,
          await filters.remove(caller, query.email, params.name),
        ),
    })
  }
