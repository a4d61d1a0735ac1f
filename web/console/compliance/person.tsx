import { useQuery } from '../../lib/query.ts'
import { useQueryState } from '../../lib/router.tsx'
import { Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Heading } from '../../ui/page.tsx'
import { api } from '../api.ts'
import { Consents } from './consents.tsx'
import { Erasures } from './erasures.tsx'
import { Exports } from './exports.tsx'
import { ComplianceTabs } from './tabs.tsx'
import { t } from './words.ts'

/** The address of the person is in the query, so that the screen can be sent to a colleague. */
export function Person() {
  const [{ email }, change] = useQueryState('email')
  return (
    <>
      <Heading title={t.person} />
      <ComplianceTabs />
      <Card>
        <div class="narrow">
          <Form
            submit={t.open}
            onSubmit={async (values) => change({ email: values.text('email') })}
          >
            <Field
              label={t.email}
              name="email"
              type="email"
              value={email}
              required
              hint={t.personHint}
              autocomplete="off"
            />
          </Form>
        </div>
      </Card>
      {email && <Data key={email} email={email} />}
    </>
  )
}

function Data({ email }: { email: string }) {
  const { data } = useQuery(`compliance ${email} hold`, () =>
    api.get('/compliance/legal-holds/check/{user_email}', { params: { user_email: email } }),
  )
  return (
    <>
      {data?.on_hold && (
        <p class="note warn">{t.onHold(data.holds.map(({ name }) => name).join(', '))}</p>
      )}
      <Exports email={email} />
      <Erasures email={email} />
      <Consents email={email} />
    </>
  )
}
