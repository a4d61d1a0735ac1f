import { forget, useQuery } from '../../lib/query.ts'
import { Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Facts, Heading, Text } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { SecondFactor } from './second-factor.tsx'
import { OwnSessions } from './sessions.tsx'
import { t } from './words.ts'

export function Account() {
  const { data } = useQuery('me', () => api.get('/auth/me'))
  return (
    <>
      <Heading title={t.title} />
      <Card>
        <Facts
          facts={[
            { name: t.signedInAs, value: <Text>{data?.user?.email}</Text> },
            { name: t.role, value: t.roles[data?.user?.role ?? ''] ?? data?.user?.role },
          ]}
        />
      </Card>
      <Password email={data?.user?.email ?? ''} />
      <SecondFactor />
      <OwnSessions />
    </>
  )
}

const Password = ({ email }: { email: string }) => (
  <Card title={t.password}>
    <div class="narrow">
      <Form
        submit={t.change}
        onSubmit={async (values, idempotencyKey) => {
          await api.post('/auth/password', {
            body: {
              current_password: values.secret('current_password'),
              new_password: values.secret('new_password'),
            },
            idempotencyKey,
          })
          forget('sessions')
          toast(t.changed)
        }}
      >
        {/* Password managers save the new password for this name. */}
        <input type="hidden" name="username" autocomplete="username" value={email} />
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
          hint={t.rule}
          required
        />
      </Form>
    </div>
  </Card>
)
