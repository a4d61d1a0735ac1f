import { defineError } from '../../errors.ts'

export const MissingDomain = defineError({ status: 400, message: 'Missing domain' })
export const MissingOrganization = defineError({ status: 400, message: 'Missing organization_id' })
export const UnknownReportType = defineError<{ sent: string; known: readonly string[] }>({
  status: 400,
  message: ({ sent, known }) => `Unknown report_type '${sent}'; there are: ${known.join(', ')}`,
})
export const ReportNotFound = defineError({ status: 404, message: 'Report not found or expired' })
export const ScheduleNotFound = defineError({ status: 404, message: 'Scheduled report not found' })
export const TooManySchedules = defineError<number>({
  status: 409,
  message: (limit) =>
    `An organization can have ${limit} scheduled reports at most; delete one first`,
})
export const TooManyRecipients = defineError<number>({
  status: 409,
  message: (limit) =>
    `The scheduled reports of an organization can have ${limit} recipients in total at most`,
})

export const NoScheduleFields = defineError({
  status: 422,
  message: 'Send at least one of report_type, interval, recipients, timezone, webhook_url',
})
