import { useState } from 'preact/hooks'
import type { SmtpCredential, SmtpCredentialEvent, SmtpCredentialUsage } from '../../api/schema.ts'
import { day, number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { useParams } from '../../lib/router.tsx'
import { Chart } from '../../ui/chart.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Empty, Facts, Heading, Text, Time } from '../../ui/page.tsx'
import { Secret } from '../../ui/secret.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { CredentialActions } from './credential-actions.tsx'
import { LimitFields, limitsOf } from './limits.tsx'
import { snippets } from './snippets.ts'
import { Status } from './status.tsx'
import { t } from './words.ts'

const DAYS = 30

export function Credential() {
  const { credential_id = '' } = useParams()
  const params = { credential_id }
  const key = `smtp-credential ${credential_id}`
  const { data, error, again } = useQuery(key, () =>
    api.get('/smtp-credentials/{credential_id}', { params }),
  )
  return (
    <>
      <Heading
        title={data?.username ?? t.one}
        parent={{ title: t.title, to: '/app/smtp-credentials' }}
        badge={data && <Status {...data} />}
      >
        {data && <CredentialActions credential={data} />}
      </Heading>
      <Failed error={error} again={again} />
      {data && (
        <>
          <Usage credential={data} />
          <Connect credential={data} />
          <Settings credential={data} />
          <History credential={data} />
        </>
      )}
    </>
  )
}

interface Props {
  credential: SmtpCredential
}

function Usage({ credential }: Props) {
  const usage = useQuery(`smtp-credential ${credential.id} usage`, () =>
    api.get('/smtp-credentials/{credential_id}/usage', {
      params: { credential_id: credential.id },
      query: { days: DAYS },
    }),
  )
  const shown = (value: number | undefined) => (value === undefined ? '–' : number(value))
  return (
    <Card title={t.usage}>
      <Failed error={usage.error} again={usage.again} />
      <Facts
        facts={[
          { name: t.total, value: shown(usage.data?.total) },
          { name: t.delivered, value: shown(usage.data?.delivered) },
          { name: t.bounced, value: shown(usage.data?.bounced) },
          { name: t.deferred, value: shown(usage.data?.deferred) },
          { name: t.rejected, value: shown(usage.data?.rejected) },
          { name: t.lastUsed, value: <Time iso={credential.last_used_at} /> },
        ]}
      />
      <div class="chart-room">{usage.data && <UsageChart days={usage.data.days} />}</div>
    </Card>
  )
}

const SERIES = [
  ['delivered', 'good'],
  ['deferred', 'warn'],
  ['bounced', 'bad'],
  ['rejected', 'accent'],
] as const

const UsageChart = ({ days }: { days: SmtpCredentialUsage['days'] }) => (
  <Chart
    title={t.usage}
    labels={days.map(({ date }) => day(date))}
    series={SERIES.map(([name, tone]) => ({
      name: t[name],
      tone,
      values: days.map((one) => one[name]),
    }))}
  />
)

/** The server is the mail host that the MX record of the domain names. */
function Connect({ credential }: Props) {
  const [chosen, setChosen] = useState('Nodemailer')
  const { data } = useQuery(`domain ${credential.domain_id}`, () =>
    api.get('/domains/{domain_id}', { params: { domain_id: credential.domain_id } }),
  )
  const server = data?.dns_records.find(({ type }) => type === 'MX')?.value.replace(/\.$/, '')
  if (!server) return null
  const examples = snippets(server, credential.username)
  return (
    <Card
      title={t.connect}
      actions={
        <select
          class="small"
          aria-label={t.language}
          value={chosen}
          onChange={(event) => setChosen(event.currentTarget.value)}
        >
          {Object.keys(examples).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      }
    >
      <div class="stack">
        <p class="muted">{t.connectHint}</p>
        <p>
          {t.server} <code>{server}</code>. {t.ports}.
        </p>
        <Secret value={examples[chosen] ?? ''} label={chosen} />
      </div>
    </Card>
  )
}

function Settings({ credential }: Props) {
  const may = useMay()
  if (!may<'PATCH /smtp-credentials/{credential_id}'>('write')) return null
  return (
    <Card title={t.settings}>
      <div class="narrow">
        <Form
          submit={common.save}
          onSubmit={async (values, idempotencyKey) => {
            await api.patch('/smtp-credentials/{credential_id}', {
              params: { credential_id: credential.id },
              body: limitsOf(values),
              idempotencyKey,
            })
            forget('smtp-credential')
            toast(t.saved)
          }}
        >
          <LimitFields credential={credential} />
        </Form>
      </div>
    </Card>
  )
}

const columns: Column<SmtpCredentialEvent>[] = [
  { title: common.when, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: t.event, cell: ({ event }) => t.events[event] },
  { title: t.actor, minor: true, cell: ({ actor }) => <Text>{actor}</Text> },
  { title: t.address, minor: true, cell: ({ source_ip }) => <code>{source_ip}</code> },
]

function History({ credential }: Props) {
  const events = useQuery(`smtp-credential ${credential.id} events`, () =>
    api.get('/smtp-credentials/{credential_id}/events', {
      params: { credential_id: credential.id },
    }),
  )
  return (
    <Card title={t.history} flush>
      <Table
        caption={t.history}
        columns={columns}
        rows={events.data?.events}
        rowKey={({ id }) => id}
        expected={2}
        empty={<Empty title={t.noHistory} />}
      />
    </Card>
  )
}
