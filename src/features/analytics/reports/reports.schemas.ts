import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { EMAIL_PATTERN } from '../../../lib/email.ts'
import { REPORT_TYPES } from '../analytics.schemas.ts'

const INTERVALS = ['daily', 'weekly', 'monthly'] as const
export type Interval = (typeof INTERVALS)[number]

const Uuid = Type.String({ format: 'uuid', examples: ['7d5c1f7e-9c1b-4a52-8d05-1d1f0a3c9b6e'] })

const Anything = Type.Object(
  {},
  { additionalProperties: true, description: 'The figures, as the route of that name answers' },
)

export const Report = Type.Object(
  {
    report_id: Uuid,
    report_type: OneOf(REPORT_TYPES),
    domain: Type.String(),
    period_days: Type.Integer(),
    status: Type.Literal('completed'),
    data: Anything,
    generated_at: Timestamp,
  },
  { title: 'Report' },
)

export const ScheduleParams = Type.Object({ schedule_id: Type.String() })
export const ReportParams = Type.Object({ report_id: Type.String() })

export const ReportRequest = Body({
  domain: Type.Optional(Type.String({ description: 'Required' })),
  report_type: Type.Optional(
    Type.String({ description: `${REPORT_TYPES.join(', ')}; dashboard unless given` }),
  ),
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, description: '30 unless given' })),
  timezone: Type.Optional(Type.String({ description: 'Time zone of the days; default UTC' })),
})

export const Schedule = Type.Object(
  {
    schedule_id: Uuid,
    organization_id: Type.String(),
    domain: Type.String(),
    report_type: OneOf(REPORT_TYPES),
    interval: OneOf(INTERVALS),
    recipients: Type.Array(Type.String()),
    timezone: Type.String(),
    webhook_url: Nullable(Type.String()),
    created_at: Timestamp,
    last_run_at: Nullable(Timestamp),
    last_error: Type.Optional(Nullable(Type.String({ description: 'Absent until the first run' }))),
  },
  { title: 'ReportSchedule' },
)

export const NewSchedule = Type.Object({
  ...Schedule.properties,
  webhook_secret: Type.Optional(
    Type.String({
      description: 'Signs what is posted to webhook_url; shown once, when the URL is set',
    }),
  ),
})

export const Schedules = Type.Object({ schedules: Type.Array(Schedule), count: Type.Integer() })

export const ScheduleQuery = Type.Object({
  organization_id: Type.Optional(
    Type.String({ description: 'For platform callers; a tenant always gets its own' }),
  ),
})

const scheduleFields = {
  report_type: Type.Optional(OneOf(REPORT_TYPES)),
  interval: Type.Optional(
    OneOf(INTERVALS, { description: 'weekly unless given; a report covers the time between two' }),
  ),
  recipients: Type.Optional(
    Type.Array(
      Type.String({ pattern: EMAIL_PATTERN, maxLength: 254, examples: ['jane@example.com'] }),
      { maxItems: 50 },
    ),
  ),
  timezone: Type.Optional(Type.String({ description: 'Time zone of the days; default UTC' })),
  webhook_url: Type.Optional(
    Nullable(
      Type.String({ maxLength: 1000, description: 'URL that reports are posted to, signed' }),
    ),
  ),
}

export const ScheduleChange = Body(scheduleFields)

export const ScheduleRequest = Body({
  domain: Type.Optional(Type.String({ description: 'Required' })),
  organization_id: Type.Optional(Type.String({ description: 'Required of platform callers' })),
  ...scheduleFields,
})
