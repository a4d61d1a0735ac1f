import type { MailboxVacation } from '../../api/schema.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { CheckBox, Field, TextArea } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Heading } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as shared } from '../words.ts'
import { t } from './words.ts'

export function Vacation() {
  const { data, error, again } = useQuery('vacation', () => api.get('/mailbox/vacation'))
  return (
    <>
      <Heading title={t.title} />
      <Failed error={error} again={again} />
      {data && <VacationForm vacation={data} />}
    </>
  )
}

const VacationForm = ({ vacation }: { vacation: MailboxVacation }) => (
  <Card>
    <div class="narrow">
      <p class="muted prose">{t.hint}</p>
      {!vacation.managed && <p class="note warn">{shared.foreign}</p>}
      <Form
        submit={common.save}
        onSubmit={async (values, idempotencyKey) => {
          await api.put('/mailbox/vacation', {
            body: {
              enabled: values.checked('enabled'),
              subject: values.optional('subject'),
              message: values.optional('message'),
              start_date: values.optional('start_date'),
              end_date: values.optional('end_date'),
            },
            idempotencyKey,
          })
          forget('vacation')
          forget('home')
          toast(t.saved)
        }}
      >
        <CheckBox label={t.enabled} name="enabled" checked={vacation.enabled} />
        <Field
          label={t.subject}
          name="subject"
          value={vacation.subject ?? (vacation.message ? '' : t.usualSubject)}
        />
        <TextArea
          label={t.message}
          name="message"
          value={vacation.message ?? t.usualMessage}
          rows={7}
        />
        <div class="pair">
          <Field
            label={t.from}
            name="start_date"
            type="date"
            value={vacation.start_date?.slice(0, 10) ?? ''}
          />
          <Field
            label={t.to}
            name="end_date"
            type="date"
            value={vacation.end_date?.slice(0, 10) ?? ''}
            hint={t.datesHint}
          />
        </div>
      </Form>
    </div>
  </Card>
)
