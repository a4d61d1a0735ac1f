import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { operator } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { PageQuery, Paginated, pageOf } from '../../../http/paging.ts'
import {
  LimitNotFound,
  NoSuchOrganization,
  NotADomain,
  NotAnAddress,
  NothingToChange,
  ScheduleExists,
  ScheduleNotFound,
  SeveralSenders,
} from './optimizer.errors.ts'
import * as shapes from './optimizer.schemas.ts'
import type { PacingService } from './pacing.service.ts'
import type { WarmingService } from './warming.service.ts'

interface Needs {
  pacing: PacingService
  warming: WarmingService
}

const reading = { auth: operator('support') }
const writing = operator('operator')

/** Warm-ups and limits of destinations, for operators. */
export const pacingRoutes =
  ({ pacing, warming }: Needs): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/warm-ups', {
      config: reading,
      schema: {
        operationId: 'list_warm_ups',
        summary: 'IP addresses in warm-up, with the mail that waits for them',
        querystring: Type.Object(PageQuery),
        response: { 200: Success(Paginated(shapes.WarmUpSchedule)) },
      },
      handler: async ({ query }) =>
        success('Warm-ups retrieved', await warming.list(pageOf(query))),
    })

    app.post('/warm-ups', {
      config: {
        auth: writing,
        errors: [NoSuchOrganization, NotAnAddress, ScheduleExists, SeveralSenders],
      },
      schema: {
        operationId: 'create_warm_up',
        summary: 'Warm up an IP address: mail above the limit of the day waits in the queue',
        body: shapes.NewWarmUp,
        response: { 201: Success(shapes.WarmUpSchedule) },
      },
      handler: async ({ caller, body: { reason: _, organization_id = null, ...body } }, reply) => {
        const created = await warming.begin(caller, { ...body, organization_id })
        return reply.code(201).send(success('Warm-up created', created))
      },
    })

    app.put('/warm-ups/:ip_address', {
      config: { auth: writing, errors: [ScheduleNotFound, NotAnAddress, NothingToChange] },
      schema: {
        operationId: 'update_warm_up',
        summary: 'Change, pause or resume a warm-up',
        params: shapes.WarmUpParams,
        body: shapes.WarmUpUpdate,
        response: { 200: Success(shapes.WarmUpSchedule) },
      },
      handler: async ({ caller, params, body: { reason: _, ...fields } }) =>
        success('Warm-up updated', await warming.alter(caller, params.ip_address, fields)),
    })

    app.delete('/warm-ups/:ip_address', {
      config: { auth: writing, errors: [ScheduleNotFound, NotAnAddress] },
      schema: {
        operationId: 'delete_warm_up',
        summary: 'End a warm-up; mail that waits for it is released',
        params: shapes.WarmUpParams,
        body: shapes.Reason,
        response: { 200: Success(shapes.EndedWarmUp) },
      },
      handler: async ({ caller, params }) =>
        success('Warm-up deleted', await warming.end(caller, params.ip_address)),
    })

    app.get('/isp-limits', {
      config: reading,
      schema: {
        operationId: 'list_isp_limits',
        summary: 'Limits by destination, built-in and set, with the mail that waits',
        querystring: Type.Object(PageQuery),
        response: { 200: Success(shapes.LimitPage) },
      },
      handler: async ({ query }) => success('Limits retrieved', await pacing.list(pageOf(query))),
    })

    app.put('/isp-limits/:domain', {
      config: { auth: writing, errors: [NotADomain, NothingToChange] },
      schema: {
        operationId: 'set_isp_limit',
        summary: 'Set the limits of a destination; fields that are left out stay',
        params: shapes.LimitParams,
        body: shapes.LimitUpdate,
        response: { 200: Success(shapes.ChangedLimit) },
      },
      handler: async ({ caller, params, body: { reason: _, ...fields } }) =>
        success('Limit set', await pacing.changeLimit(caller, params.domain, fields)),
    })

    app.delete('/isp-limits/:domain', {
      config: { auth: writing, errors: [NotADomain, LimitNotFound] },
      schema: {
        operationId: 'delete_isp_limit',
        summary: 'Remove the limit of a destination, so that the built-in one applies again',
        params: shapes.LimitParams,
        body: shapes.Reason,
        response: { 200: Success(shapes.RemovedLimit) },
      },
      handler: async ({ caller, params }) =>
        success('Limit removed', await pacing.removeLimit(caller, params.domain)),
    })
  }
