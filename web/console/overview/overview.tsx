import type { PlatformOverview } from '../../api/schema.ts'
import { bytes, hour, number } from '../../lib/format.ts'
import { locale } from '../../lib/language.ts'
import { useQuery } from '../../lib/query.ts'
import { Chart } from '../../ui/chart.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Badge, Card, Empty, Facts, Heading, Text, Time, type Tone } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

const REFRESH_SECONDS = 30

export function Overview() {
  const { data, error, again } = useQuery('overview', () => api.get('/platform/overview'), {
    everySeconds: REFRESH_SECONDS,
  })
  return (
    <>
      <Heading
        title={t.title}
        badge={
          data &&
          data.degraded.length > 0 && (
            <Badge tone="warn">{t.notKnown(data.degraded.join(', '))}</Badge>
          )
        }
      />
      <Failed error={error} again={again} />
      {data && (
        <>
          <Card>
            <Facts facts={factsOf(data)} />
          </Card>
          {data.volume_24h && <VolumeCard volume={data.volume_24h} />}
          {data.security && (
            <Card title={t.failedAuth}>
              <Chart
                title={t.failedAuth}
                height={140}
                labels={data.security.failed_auth_series.map((one) => hour(one.hour))}
                series={[
                  {
                    name: t.failed,
                    tone: 'bad',
                    values: data.security.failed_auth_series.map(({ count }) => count),
                  },
                ]}
              />
            </Card>
          )}
          <Card title={t.recent} flush>
            <Table
              caption={t.recent}
              columns={columns}
              rows={data.recent_actions ?? []}
              rowKey={({ id }) => String(id)}
              empty={<Empty title={t.noActions}>{t.noActionsHint}</Empty>}
            />
          </Card>
        </>
      )}
    </>
  )
}

const signed = new Intl.NumberFormat(locale, { signDisplay: 'exceptZero' })
const toneOf = (count: number | undefined) => (count ? ('warn' as const) : ('' as const))
const toneOfServices = (services: PlatformOverview['services']): Tone =>
  services ? (services.up < services.total ? 'bad' : 'good') : ''
const shown = (count: number | undefined) => (count === undefined ? '–' : number(count))

function factsOf(data: PlatformOverview) {
  const { services, queue, storage, certificates } = data
  const growth = (part: { delta_7d: number } | null) =>
    part ? t.week(signed.format(part.delta_7d)) : undefined
  return [
    {
      name: t.services,
      value: services ? t.servicesOf(services.up, services.total) : '–',
      note: services?.unhealthy.length
        ? t.down(services.unhealthy.map(({ name }) => name).join(', '))
        : undefined,
      tone: toneOfServices(services),
      to: '/console/services',
    },
    {
      name: t.queue,
      value: shown(queue?.depth),
      note: queue ? t.deferred(number(queue.deferred)) : undefined,
      to: '/console/queue',
    },
    {
      name: t.organizations,
      value: shown(data.organizations?.total),
      note: growth(data.organizations),
      to: '/console/organizations',
    },
    {
      name: t.domains,
      value: shown(data.domains?.total),
      note: growth(data.domains),
      to: '/console/domains',
    },
    { name: t.mailboxes, value: shown(data.mailboxes?.total), note: growth(data.mailboxes) },
    {
      name: t.storage,
      value: storage ? bytes(storage.used_bytes) : '–',
      note: storage?.quota_bytes ? t.storageOf(bytes(storage.quota_bytes)) : undefined,
    },
    {
      name: t.certificates,
      value: shown(certificates?.expiring_30d),
      note: t.certificatesNote,
      tone: toneOf(certificates?.expiring_30d),
    },
    {
      name: t.quarantine,
      value: shown(data.quarantine?.pending),
      to: '/console/quarantine?status=quarantined',
    },
    {
      name: t.deadLetters,
      value: shown(data.webhooks?.dead_letters),
      to: '/console/dead-letters?status=pending',
      tone: toneOf(data.webhooks?.dead_letters),
    },
    {
      name: t.migrations,
      value: shown(data.migrations?.failed),
      tone: toneOf(data.migrations?.failed),
    },
  ]
}

const VolumeCard = ({ volume }: { volume: NonNullable<PlatformOverview['volume_24h']> }) => (
  <Card title={t.volume}>
    <Chart
      title={t.volume}
      labels={volume.map((one) => hour(one.hour))}
      series={[
        { name: t.sent, tone: 'accent', values: volume.map(({ sent }) => sent) },
        { name: t.received, tone: 'good', values: volume.map(({ received }) => received) },
        { name: t.bounced, tone: 'bad', values: volume.map(({ bounced }) => bounced) },
        { name: t.deferredSeries, tone: 'warn', values: volume.map(({ deferred }) => deferred) },
      ]}
    />
  </Card>
)

const columns: Column<NonNullable<PlatformOverview['recent_actions']>[number]>[] = [
  { title: common.when, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: t.action, cell: ({ action }) => <code>{action}</code> },
  { title: t.operator, minor: true, cell: ({ operator_email }) => <Text>{operator_email}</Text> },
  {
    title: t.target,
    minor: true,
    cell: ({ target_type, target_id }) => (
      <Text>{[target_type, target_id].filter(Boolean).join(' ')}</Text>
    ),
  },
  {
    title: t.result,
    cell: ({ result }) => <Badge tone={result === 'success' ? 'good' : 'bad'}>{t[result]}</Badge>,
  },
]
