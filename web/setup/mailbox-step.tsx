import { Field } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { tenant } from './clients.ts'
import type { Progress } from './first-run.tsx'
import { t } from './words.ts'

export const MailboxStep = ({
  progress,
  onDone,
}: {
  progress: Progress
  onDone(learned?: Partial<Progress>): void
}) => (
  <>
    <h1>{t.mailboxTitle}</h1>
    <p class="muted">{t.mailboxHint(progress.email ?? '')}</p>
    <Form
      submit={t.add}
      onSubmit={async (values, idempotencyKey) => {
        const mailbox = `${values.text('local_part')}@${progress.domain}`
        await tenant.post('/mailboxes/email-accounts', {
          body: {
            email: mailbox,
            name: values.optional('name'),
            password: values.secret('password'),
          },
          idempotencyKey,
        })
        onDone({ mailbox })
      }}
    >
      <Field
        label={t.address}
        name="local_part"
        autocomplete="off"
        suffix={`@${progress.domain}`}
        required
        autofocus
      />
      <Field label={t.name} name="name" autocomplete="off" />
      <Field
        label={t.password}
        name="password"
        type="password"
        autocomplete="new-password"
        hint={t.passwordRule}
        required
      />
    </Form>
    <button type="button" class="link" onClick={() => onDone()}>
      {t.later}
    </button>
  </>
)
