import { useState } from 'preact/hooks'
import { beginEnrolment, confirmEnrolment } from '../lib/enrolment.ts'
import { Enrol } from '../ui/enrol.tsx'
import { Field } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { operator } from './clients.ts'
import { TokenField } from './token.tsx'
import { t } from './words.ts'

/** Creates the first operator and sets up the second factor. */
export function OperatorStep({
  file,
  onDone,
  onLater,
}: {
  file: string | null
  onDone(): void
  onLater(): void
}) {
  const [enrolment, setEnrolment] = useState<Awaited<ReturnType<typeof beginEnrolment>>>()
  const api = operator
  if (enrolment) {
    return (
      <>
        <h1>{t.secondFactor}</h1>
        <Enrol
          enrolment={enrolment}
          verify={async (code) => {
            await confirmEnrolment('operator', api, code)
            onDone()
          }}
        />
      </>
    )
  }
  return (
    <>
      <h1>{t.operatorTitle}</h1>
      <p class="muted">{t.operatorHint}</p>
      <Form
        submit={t.createOperator}
        onSubmit={async (values, idempotencyKey) => {
          const email = values.text('email')
          const password = values.secret('password')
          await api.post('/platform/auth/bootstrap', {
            headers: { 'x-bootstrap-token': values.text('token') },
            body: { email, password, full_name: values.text('full_name') },
            idempotencyKey,
          })
          await api.post('/platform/auth/login', { body: { email, password } })
          setEnrolment(await beginEnrolment('operator', api))
        }}
      >
        <TokenField file={file} />
        <Field label={t.fullName} name="full_name" autocomplete="name" required />
        <Field
          label={t.operatorEmail}
          name="email"
          type="email"
          autocomplete="username"
          hint={t.operatorEmailHint}
          required
        />
        <Field
          label={t.password}
          name="password"
          type="password"
          autocomplete="new-password"
          hint={t.passwordRule}
          required
        />
      </Form>
      <button type="button" class="link" onClick={onLater}>
        {t.later}
      </button>
    </>
  )
}
