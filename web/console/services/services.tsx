import { useState } from 'preact/hooks'
import type { Get, MonitoredService } from '../../api/schema.ts'
import { number, percent } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { RowButton } from '../../ui/buttons.tsx'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Badge, Card, Empty, Facts, Heading, Text, Time, type Tone } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { Charts } from './charts.tsx'
import { Heal } from './heal.tsx'
import { t } from './words.ts'

const REFRESH_SECONDS = 15

type Service = MonitoredService & { name: string }
type Stats = Get['/monitoring/stats']['data']

const OVERALL: Record<string, Tone> = { healthy: 'good', degraded: 'warn', critical: 'bad' }
const STATES: Record<Service['status'], Tone> = {
  up: 'good',
  degraded: 'warn',
  down: 'bad',
  error: 'bad',
}

const columns: Column<Service>[] = [
  {
    title: t.service,
    cell: ({ name, critical }) => (
      <span class="with-badge">
        <Text>{name}</Text>
        {critical && <Badge>{t.critical}</Badge>}
      </span>
    ),
  },
  {
    title: t.status,
    cell: ({ status }) => <Badge tone={STATES[status]}>{t.states[status]}</Badge>,
  },
  { title: t.error, minor: true, cell: ({ error }) => <Text>{error}</Text> },
  { title: t.protocol, minor: true, cell: ({ protocol }) => protocol },
  {
    title: t.answered,
    number: true,
    minor: true,
    cell: ({ response_time }) =>
      response_time === null ? '–' : t.ms(number(Math.round(response_time))),
  },
  { title: t.since, minor: true, cell: ({ since }) => <Time iso={since} /> },
  { title: common.actions, quiet: true, cell: (one) => <Restart service={one} /> },
]

export function Services() {
  const services = useQuery('services', () => api.get('/monitoring/services'), {
    everySeconds: REFRESH_SECONDS,
  })
  const stats = useQuery('monitoring stats', () => api.get('/monitoring/stats'), {
    everySeconds: REFRESH_SECONDS,
  })
  const { data } = services
  return (
    <>
      <Heading
        title={t.title}
        badge={
          data && (
            <Badge tone={OVERALL[data.overall_status] ?? ''}>
              {t.overall[data.overall_status]}
            </Badge>
          )
        }
      >
        <Heal />
      </Heading>
      <Failed error={services.error} again={services.again} />
      <Card flush>
        <Table
          caption={t.title}
          columns={columns}
          rows={data && byState(data.services)}
          rowKey={({ name }) => name}
          empty={<Empty title={t.none}>{t.noneHint}</Empty>}
        />
      </Card>
      <Failed error={stats.error} again={stats.again} />
      {stats.data && <Figures stats={stats.data} />}
      {stats.data && stats.data.hosts.length > 0 && <Hosts hosts={stats.data.hosts} />}
      <Charts />
    </>
  )
}

const ORDER = ['down', 'error', 'degraded', 'up']

/** Services that need attention come first. */
const byState = (services: Record<string, MonitoredService>): Service[] =>
  Object.entries(services)
    .map(([name, service]) => ({ ...service, name }))
    .sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || (a.name < b.name ? -1 : 1))

function Restart({ service: { name } }: { service: Service }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  if (!may<'POST /monitoring/services/{service_name}/restart'>('operator')) return null
  return (
    <>
      <RowButton name={name} onClick={() => setOpen(true)}>
        {t.restart}
      </RowButton>
      <ConfirmWithReason
        kind="restart"
        open={open}
        onClose={() => setOpen(false)}
        title={t.restartTitle(name)}
        submit={t.restart}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/monitoring/services/{service_name}/restart', {
            params: { service_name: name },
            body: { reason },
            idempotencyKey,
          })
          forget('services')
          toast(t.restarted(name))
        }}
      >
        <p>{t.restartHint}</p>
      </ConfirmWithReason>
    </>
  )
}

const share = (value: number | null) => (value === null ? '–' : percent(value / 100))
const count = (value: number | null) => (value === null ? '–' : number(value))

const Figures = ({ stats: { system, mail } }: { stats: Stats }) => (
  <Card title={t.figures}>
    <Facts
      facts={[
        { name: t.cpu, value: share(system.cpu_percent) },
        { name: t.memory, value: share(system.memory_percent) },
        { name: t.disk, value: share(system.disk_percent) },
        { name: t.load, value: system.load_average.map((one) => number(one)).join(' · ') },
        { name: t.queue, value: count(mail.queue_size), to: '/console/queue' },
        { name: t.connections, value: count(mail.active_connections) },
        { name: t.today, value: count(mail.messages_today), to: '/console/trace' },
      ]}
    />
  </Card>
)

const LEVELS: Record<string, Tone> = { ok: 'good', warning: 'warn', critical: 'bad' }
const RESOURCES = { cpu: t.cpu, memory: t.memory, disk: t.disk }

const hostColumns: Column<Stats['hosts'][number]>[] = [
  { title: t.host, cell: ({ host }) => <Text>{host}</Text> },
  { title: t.resource, cell: ({ resource }) => RESOURCES[resource] },
  {
    title: t.level,
    cell: ({ level }) => <Badge tone={LEVELS[level] ?? ''}>{t.levels[level]}</Badge>,
  },
  { title: t.used, number: true, cell: (one) => share(one.percent) },
  { title: t.changed, minor: true, cell: ({ changed_at }) => <Time iso={changed_at} /> },
  { title: t.checked, minor: true, cell: ({ checked_at }) => <Time iso={checked_at} /> },
]

const Hosts = ({ hosts }: { hosts: Stats['hosts'] }) => (
  <Card title={t.hosts} flush>
    <Table
      caption={t.hosts}
      columns={hostColumns}
      rows={hosts}
      rowKey={({ host, resource }) => `${host} ${resource}`}
    />
  </Card>
)
