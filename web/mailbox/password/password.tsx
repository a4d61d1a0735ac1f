import { useState } from 'preact/hooks'
import { ApiError } from '../../api/client.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Heading } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

export const Password = () => (
  <>
    <Heading title={t.title} />
    <Card>
      <div class="narrow">
        <p class="muted prose">{t.hint}</p>
        <PasswordForm />
      </div>
    </Card>
  </>
)

/** Replaces every screen until a password that an administrator set is changed. */
export function ForcedPassword() {
  const { data } = useQuery('profile', () => api.get('/mailbox/profile'))
  return (
    <>
      <Heading title={t.forced} />
      <Card>
        <div class="narrow">
          {data?.password_change_reason && (
            <p class="note warn" lang="en">
              {data.password_change_reason}
            </p>
          )}
          <PasswordForm />
        </div>
      </Card>
    </>
  )
}

function PasswordForm() {
  // The fields are empty again after each change.
  const [changes, setChanges] = useState(0)
  return (
    <Form
      key={changes}
      submit={t.change}
      onSubmit={async (values, idempotencyKey) => {
        const new_password = values.secret('new_password')
        if (new_password !== values.secret('repeated')) {
          throw new ApiError({
            status: 422,
            message: t.different,
            fields: { repeated: t.different },
          })
        }
        const { sessions_revoked } = await api.post('/mailbox/password', {
          body: { current_password: values.secret('current_password'), new_password },
          idempotencyKey,
        })
        toast(sessions_revoked > 0 ? t.ended(sessions_revoked) : t.changed)
        setChanges(changes + 1)
        forget('')
      }}
    >
      <Field
        label={t.current}
        name="current_password"
        type="password"
        autocomplete="current-password"
        required
      />
      <Field
        label={t.next}
        name="new_password"
        type="password"
        autocomplete="new-password"
        hint={t.nextHint}
        required
      />
      <Field label={t.again} name="repeated" type="password" autocomplete="new-password" required />
    </Form>
  )
}
