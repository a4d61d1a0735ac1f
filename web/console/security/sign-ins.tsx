import { useState } from 'preact/hooks'
import type { FailedAuth } from '../../api/schema.ts'
import { hour, number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { RowButton } from '../../ui/buttons.tsx'
import { Chart } from '../../ui/chart.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Card, Empty, Facts, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { ReasonField } from '../fields.tsx'
import { Lift } from './lift.tsx'
import { SERVICES } from './services.ts'
import { SecurityTabs } from './tabs.tsx'
import { t } from './words.ts'

const HOUR_MINUTES = 60

const columns: Column<FailedAuth>[] = [
  {
    title: t.address,
    cell: ({ client_ip }) => (client_ip ? <code>{client_ip}</code> : common.none),
  },
  { title: t.account, cell: ({ username }) => <Text>{username ?? '–'}</Text> },
  { title: t.service, minor: true, cell: ({ service }) => <code>{service}</code> },
  {
    title: t.attempts,
    sort: 'attempt_count',
    number: true,
    cell: ({ attempt_count }) => number(attempt_count),
  },
  {
    title: t.last,
    sort: 'last_attempt_at',
    minor: true,
    cell: ({ last_attempt_at }) => <Time iso={last_attempt_at} />,
  },
  {
    title: t.state,
    cell: ({ blocked }) =>
      blocked ? <Badge tone="bad">{t.blocked}</Badge> : <Badge>{t.free}</Badge>,
  },
  { title: common.actions, quiet: true, cell: (row) => <Act row={row} /> },
]

function Act({ row }: { row: FailedAuth }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  if (row.blocked) return <Lift client_ip={row.client_ip || null} username={row.username} />
  if (!row.client_ip || !may<'POST /security/failed-auth/{client_ip}/block'>('operator'))
    return null
  return (
    <>
      <RowButton name={row.client_ip} onClick={() => setOpen(true)}>
        {t.block}
      </RowButton>
      <BlockAddress open={open} onClose={() => setOpen(false)} ip={row.client_ip} />
    </>
  )
}

/** Without `ip` the address is typed. */
export const BlockAddress = ({
  ip,
  ...dialog
}: {
  ip?: string
  open: boolean
  onClose(): void
}) => (
  <FormDialog
    {...dialog}
    title={ip ? t.blockTitle(ip) : t.blockAny}
    submit={t.block}
    danger
    onSubmit={async (values, idempotencyKey) => {
      const client_ip = ip ?? values.text('client_ip')
      const { warning } = await api.post('/security/failed-auth/{client_ip}/block', {
        params: { client_ip },
        body: { minutes: values.number('minutes') ?? HOUR_MINUTES, reason: values.text('reason') },
        idempotencyKey,
      })
      forget('security')
      toast(warning ?? t.blockedNow(client_ip))
    }}
  >
    {!ip && <Field label={t.address} name="client_ip" required autocomplete="off" />}
    <Field label={t.minutes} name="minutes" type="number" min={1} value={HOUR_MINUTES} required />
    <ReasonField />
  </FormDialog>
)

export function SignIns() {
  const summary = useQuery('security sign-ins summary', () =>
    api.get('/security/failed-auth/summary', { query: { hours: 24 } }),
  )
  const list = useList({
    name: 'security sign-ins',
    sort: 'last_attempt_at',
    dir: 'desc',
    filters: ['service', 'blocked'],
    read: ({ q, page, per_page, sort, dir, filters }) =>
      api.get('/security/failed-auth', {
        query: {
          q,
          page,
          per_page,
          sort_by: sort as 'last_attempt_at',
          sort_dir: dir,
          ...(filters.service && { service: filters.service as 'smtp' }),
          ...(filters.blocked && { blocked: filters.blocked === 'true' }),
        },
      }),
  })
  return (
    <>
      <Heading title={t.signIns} />
      <SecurityTabs />
      {summary.data && (
        <Card title={t.day}>
          <Facts
            facts={[
              { name: t.attempts, value: number(summary.data.total_attempts) },
              { name: t.distinctIps, value: number(summary.data.distinct_ips) },
              { name: t.distinctAccounts, value: number(summary.data.distinct_accounts) },
            ]}
          />
          <div class="chart-room">
            <Chart
              title={t.chart}
              height={120}
              labels={summary.data.series.map((one) => hour(one.hour))}
              series={[
                {
                  name: t.attempts,
                  tone: 'bad',
                  values: summary.data.series.map(({ count }) => count),
                },
              ]}
            />
          </div>
        </Card>
      )}
      <SearchBar list={list} label={t.searchSignIns}>
        <Choice
          label={t.anyService}
          value={list.asked.filters.service}
          options={SERVICES}
          change={(service) => list.set({ service })}
        />
        <Choice
          label={t.anyState}
          value={list.asked.filters.blocked}
          options={[
            ['true', t.blocked],
            ['false', t.free],
          ]}
          change={(blocked) => list.set({ blocked })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.signIns}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.noSignIns}>{t.noSignInsHint}</Empty>}
      />
    </>
  )
}
