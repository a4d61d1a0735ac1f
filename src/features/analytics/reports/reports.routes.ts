import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { Success, success } from '../../../http/envelope.ts'
import { DomainNotFound } from '../../domains/domains.errors.ts'
import {
  MissingDomain,
  MissingOrganization,
  ReportNotFound,
  TooManySchedules,
  UnknownReportType,
} from '../analytics.errors.ts'
import * as shapes from './reports.schemas.ts'
import type { ReportService } from './reports.service.ts'

export const reportRoutes =
  (reports: ReportService): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post('/generate', {
      config: { auth: key('read'), errors: [MissingDomain, UnknownReportType, DomainNotFound] },
      schema: {
        operationId: 'generate_report',
        summary: 'Generate a report, which is kept for 90 days',
        body: shapes.ReportRequest,
        response: { 200: Success(shapes.Report) },
      },
      handler: async ({ caller, body }) =>
        success('Report generated', await reports.generate(caller, body)),
    })

    app.get('/scheduled', {
      config: { auth: key('read') },
      schema: {
        operationId: 'list_scheduled_reports',
        summary: 'Reports that are sent at intervals',
        querystring: shapes.ScheduleQuery,
        response: { 200: Success(shapes.Schedules) },
      },
      handler: async ({ caller, query }) =>
        success(
          'Scheduled reports retrieved',
          await reports.listSchedules(caller, query.organization_id),
        ),
    })

    app.post('/scheduled', {
      config: {
        auth: key('write'),
        errors: [MissingDomain, MissingOrganization, DomainNotFound, TooManySchedules],
      },
      schema: {
        operationId: 'schedule_report',
        summary: 'Have a report sent at intervals, by mail, to a webhook or both',
        body: shapes.ScheduleRequest,
        response: { 201: Success(shapes.NewSchedule) },
      },
      handler: async ({ caller, body }, reply) => {
        const schedule = await reports.schedule(caller, body)
        return reply.code(201).send(success('Report scheduled', schedule))
      },
    })

    app.get('/:report_id', {
      config: { auth: key('read'), errors: [ReportNotFound] },
      schema: {
        operationId: 'get_report',
        summary: 'Get a report that was generated',
        params: shapes.ReportParams,
        response: { 200: Success(shapes.Report) },
      },
      handler: async ({ caller, params }) =>
        success('Report retrieved', await reports.get(caller, params.report_id)),
    })
  }
