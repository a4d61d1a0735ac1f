import type { EmailAccountDetail } from '../../../api/schema.ts'
import { forget } from '../../../lib/query.ts'
import { CheckBox, Field, TextArea } from '../../../ui/field.tsx'
import { Form } from '../../../ui/form.tsx'
import { Card } from '../../../ui/page.tsx'
import { toast } from '../../../ui/toast.tsx'
import { t as common } from '../../../ui/words.ts'
import { api } from '../../api.ts'
import { useReplace } from './replace.tsx'
import { t } from './words.ts'

const DAY_SECONDS = 86_400

export function VacationReply({ account }: { account: EmailAccountDetail }) {
  const { email } = account
  const replace = useReplace()
  return (
    <Card title={t.vacation}>
      <div class="narrow">
        <p class="muted">{t.vacationHint}</p>
        <Form
          submit={common.save}
          onSubmit={(values, idempotencyKey) =>
            replace.save(values, async (body) => {
              const enabled = values.checked('enabled')
              const subject = values.text('subject')
              await api.post('/filters/vacation', {
                query: { email },
                body: {
                  enabled,
                  ...(subject && { subject }),
                  message: values.optional('message'),
                  start_date: values.optional('start_date'),
                  end_date: values.optional('end_date'),
                  reply_interval: (values.number('days') ?? 1) * DAY_SECONDS,
                  external_only: values.checked('external_only'),
                  ...body,
                },
                idempotencyKey,
              })
              forget('mailbox')
              forget('filters')
              toast(enabled ? t.vacationOn(email) : t.vacationOff(email))
            })
          }
        >
          <CheckBox label={t.enabled} name="enabled" checked={account.vacation_enabled} />
          <Field label={t.subject} name="subject" hint={t.subjectHint} maxLength={500} />
          <TextArea
            label={t.message}
            name="message"
            value={account.vacation_message ?? ''}
            maxLength={20_000}
          />
          <div class="pair">
            <Field label={t.from} name="start_date" type="date" />
            <Field label={t.to} name="end_date" type="date" />
          </div>
          <Field label={t.days} name="days" type="number" min={1} max={365} step={1} value={1} />
          <CheckBox label={t.externalOnly} name="external_only" />
          {replace.field}
        </Form>
      </div>
    </Card>
  )
}
