import type { EmailAccountDetail } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Badge, Card, Facts, Time, Usage } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { Frame } from './frame.tsx'
import { t } from './words.ts'

const GIB = 1024 ** 3

export const MailboxPage = () => (
  <Frame>
    {(account) => (
      <>
        <Overview account={account} />
        <Settings account={account} />
      </>
    )}
  </Frame>
)

function Overview({ account }: { account: EmailAccountDetail }) {
  const twoFactor = useQuery(`mailbox ${account.id} two-factor`, () =>
    api.get('/mailboxes/email-accounts/{account_id}/two-factor', {
      params: { account_id: account.id },
    }),
  )
  return (
    <Card title={t.facts}>
      <Facts
        facts={[
          {
            name: t.storage,
            value: (
              <Usage
                used={account.storage_used}
                limit={account.storage_quota}
                label={t.storageOf(account.email)}
              />
            ),
          },
          { name: t.emails, value: number(account.total_emails) },
          { name: t.lastSignIn, value: <Time iso={account.last_login} /> },
          { name: t.passwordChanged, value: <Time iso={account.password_changed_at} /> },
          { name: t.twoFactor, value: <OnOff on={twoFactor.data?.enabled} /> },
          { name: t.forwarding, value: <OnOff on={account.forward_enabled} /> },
          { name: t.vacation, value: <OnOff on={account.vacation_enabled} /> },
          { name: t.created, value: <Time iso={account.created_at} form="date" /> },
        ]}
      />
    </Card>
  )
}

const OnOff = ({ on }: { on: boolean | undefined }) =>
  on === undefined ? <>–</> : <Badge tone={on ? 'good' : ''}>{on ? t.on : t.off}</Badge>

function Settings({ account }: { account: EmailAccountDetail }) {
  const may = useMay()
  if (!may<'PUT /mailboxes/email-accounts/{account_id}'>('write')) return null
  return (
    <Card title={t.settings}>
      <div class="narrow">
        <Form
          submit={common.save}
          onSubmit={async (values, idempotencyKey) => {
            await api.put('/mailboxes/email-accounts/{account_id}', {
              params: { account_id: account.id },
              body: {
                name: values.optional('name'),
                storage_quota: Math.round((values.number('storage_quota') ?? 0) * GIB),
              },
              idempotencyKey,
            })
            forget('mailbox')
            toast(t.saved)
          }}
        >
          <Field label={t.name} name="name" value={account.name ?? ''} autocomplete="off" />
          <Field
            label={t.quota}
            name="storage_quota"
            type="number"
            min={0}
            step="any"
            value={account.storage_quota / GIB}
            hint={t.quotaHint}
            suffix={t.gib}
          />
        </Form>
      </div>
    </Card>
  )
}
