import type { ReportSchedule } from '../../api/schema.ts'
import { timeZone } from '../../lib/format.ts'
import { Field, Select, TextArea } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { t } from './words.ts'

type Fields = Pick<
  ReportSchedule,
  'report_type' | 'interval' | 'recipients' | 'timezone' | 'webhook_url'
>

interface Props {
  title: string
  open: boolean
  onClose(): void
  submit: string
  /** Set for a new schedule; an existing one keeps its own. */
  domains?: readonly (readonly [string, string])[]
  schedule?: ReportSchedule
  save(fields: Fields, domain: string, idempotencyKey: string): Promise<unknown>
}

export const ScheduleDialog = ({ domains, schedule, save, ...dialog }: Props) => (
  <FormDialog
    {...dialog}
    onSubmit={(values, key) =>
      save(
        {
          report_type: values.text('report_type') as Fields['report_type'],
          interval: values.text('interval') as Fields['interval'],
          recipients: values
            .text('recipients')
            .split(/[\s,;]+/)
            .filter(Boolean),
          timezone: schedule?.timezone ?? timeZone(),
          webhook_url: values.optional('webhook_url'),
        },
        schedule?.domain ?? values.text('domain'),
        key,
      )
    }
  >
    {domains && <Select label={t.domain} name="domain" options={domains} />}
    <Select
      label={t.type}
      name="report_type"
      {...(schedule && { value: schedule.report_type })}
      options={Object.entries(t.types)}
    />
    <Select
      label={t.interval}
      name="interval"
      value={schedule?.interval ?? 'weekly'}
      options={Object.entries(t.intervals)}
    />
    <TextArea
      label={t.recipients}
      name="recipients"
      hint={t.recipientsHint}
      rows={3}
      value={schedule?.recipients.join('\n') ?? ''}
    />
    <Field
      label={t.webhook}
      name="webhook_url"
      type="url"
      hint={t.webhookHint}
      value={schedule?.webhook_url ?? ''}
    />
  </FormDialog>
)
