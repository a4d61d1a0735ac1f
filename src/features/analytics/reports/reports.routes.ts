import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { key } from '../../../access/labels.ts'
import { Done, done, Success, success } from '../../../http/envelope.ts'
import { DomainNotFound } from '../../domains/domains.errors.ts'
import {
  MissingDomain,
  MissingOrganization,
  NoScheduleFields,
  ReportNotFound,
  ScheduleNotFound,
  TooManyRecipients,
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
        summary: 'Generate a report; it is stored for 90 days',
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
        errors: [
          MissingDomain,
          MissingOrganization,
          DomainNotFound,
          TooManySchedules,
          TooManyRecipients,
        ],
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

    app.put('/scheduled/:schedule_id', {
      config: {
        auth: key('write'),
        errors: [ScheduleNotFound, NoScheduleFields, TooManyRecipients],
      },
      schema: {
        operationId: 'update_scheduled_report',
        summary: 'Change a report that is sent at intervals; absent fields stay as they are',
        params: shapes.ScheduleParams,
        body: shapes.ScheduleChange,
        response: { 200: Success(shapes.NewSchedule) },
      },
      handler: async ({ caller, params, body }) =>
        success(
          'Scheduled report updated',
          await reports.updateSchedule(caller, params.schedule_id, body),
        ),
    })

    app.delete('/scheduled/:schedule_id', {
      config: { auth: key('write'), errors: [ScheduleNotFound] },
      schema: {
        operationId: 'delete_scheduled_report',
        summary: 'Stop a report that is sent at intervals',
        params: shapes.ScheduleParams,
        response: { 200: Done },
      },
      handler: async ({ caller, params }) => {
        await reports.deleteSchedule(caller, params.schedule_id)
        return done('Scheduled report deleted')
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
