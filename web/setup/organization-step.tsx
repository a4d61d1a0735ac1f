import { useState } from 'preact/hooks'
import { Field } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { SecretDialog } from '../ui/secret.tsx'
import { tenant } from './clients.ts'
import type { Progress } from './first-run.tsx'
import { TokenField } from './token.tsx'
import { t } from './words.ts'

interface Created extends Pick<Progress, 'domain' | 'email'> {
  key: string
}

/** Creates organization, domain, first user and first mailbox, and signs the person in. */
export function OrganizationStep({
  file,
  onDone,
}: {
  file: string | null
  onDone(learned: Partial<Progress>): void
}) {
  const [created, setCreated] = useState<Created>()
  const api = tenant
  return (
    <>
      <h1>{t.organizationTitle}</h1>
      <p class="muted">{t.organizationHint}</p>
      <Form
        submit={t.create}
        onSubmit={async (values, idempotencyKey) => {
          const password = values.secret('admin_password')
          const { domain, mailbox, api_key } = await api.post('/bootstrap/', {
            headers: { 'x-bootstrap-token': values.text('token') },
            body: {
              organization_name: values.text('organization_name'),
              admin_email: values.text('admin_email'),
              admin_password: password,
            },
            idempotencyKey,
          })
          await api.post('/auth/login', { body: { email: mailbox, password } })
          setCreated({ domain, email: mailbox, key: api_key })
        }}
      >
        <TokenField file={file} />
        <Field
          label={t.organizationName}
          name="organization_name"
          autocomplete="organization"
          required
        />
        <Field
          label={t.adminEmail}
          name="admin_email"
          type="email"
          autocomplete="username"
          hint={t.adminEmailHint}
          required
        />
        <Field
          label={t.password}
          name="admin_password"
          type="password"
          autocomplete="new-password"
          hint={t.passwordRule}
          required
        />
      </Form>
      <SecretDialog
        title={t.keyTitle}
        secret={created?.key}
        fileName="mailplane-api-key.txt"
        onClose={() => {
          const { domain, email } = created ?? {}
          onDone({ ...(domain && { domain }), ...(email && { email }) })
        }}
      >
        <p class="muted">{t.keyHint}</p>
      </SecretDialog>
    </>
  )
}
