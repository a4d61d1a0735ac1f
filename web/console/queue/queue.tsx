import { useState } from 'preact/hooks'
import type { Get } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Bytes, Card, Empty, Facts, Heading, Text, Time, type Tone } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { ByFilter } from './by-filter.tsx'
import { BySender } from './by-sender.tsx'
import { QueueActions } from './queue-actions.tsx'
import { Samples } from './samples.tsx'
import { t } from './words.ts'

type Overview = Get['/queue/queue/status']['data']
export type Queued = Overview['messages'][number]

const REFRESH_SECONDS = 15
const SHOWN_RECIPIENTS = 2
const TONES: Record<Queued['status'], Tone> = { active: 'info', deferred: 'warn', hold: 'bad' }

const columns: Column<Queued>[] = [
  {
    title: t.sender,
    cell: ({ sender, queue_id }) => (
      <>
        <Text>{sender || t.bounce}</Text>
        <small class="under">
          <code>{queue_id}</code>
        </small>
      </>
    ),
  },
  { title: t.recipients, minor: true, cell: (message) => <Recipients {...message} /> },
  {
    title: t.status,
    cell: ({ status }) => <Badge tone={TONES[status]}>{t.statuses[status]}</Badge>,
  },
  { title: t.reason, minor: true, cell: ({ reason }) => <Text>{reason}</Text> },
  { title: t.size, number: true, minor: true, cell: ({ size }) => <Bytes value={size} /> },
  { title: t.arrived, minor: true, cell: ({ arrival_time }) => <Time iso={arrival_time} /> },
  { title: common.actions, quiet: true, cell: (one) => <QueueActions message={one} /> },
]

const Recipients = ({ recipients }: Pick<Queued, 'recipients'>) => (
  <>
    {recipients.slice(0, SHOWN_RECIPIENTS).map((one) => (
      <span key={one} class="under">
        <Text>{one}</Text>
      </span>
    ))}
    {recipients.length > SHOWN_RECIPIENTS && (
      <small>{t.more(recipients.length - SHOWN_RECIPIENTS)}</small>
    )}
  </>
)

/** Messages that the API sends of a longer queue. */
const LISTED = 1000

export function Queue() {
  const may = useMay()
  const [flushing, setFlushing] = useState(false)
  const [selecting, setSelecting] = useState<'sender' | 'filter'>()
  const overview = useQuery('queue status', () => api.get('/queue/queue/status'), {
    everySeconds: REFRESH_SECONDS,
  })
  const list = useList<Queued, 'status' | 'domain'>({
    name: 'queue',
    sort: '',
    filters: ['status', 'domain'],
    everySeconds: REFRESH_SECONDS,
    read: async ({ q, page, per_page, filters: { domain, status } }) => {
      const { messages } = domain
        ? await api.get('/queue/queue/domain/{domain}', { params: { domain } })
        : await api.get('/queue/queue/status')
      // They come at once, so they are searched and paged here.
      const found = messages.filter((one) => (!status || one.status === status) && has(one, q))
      const from = (page - 1) * per_page
      return { items: found.slice(from, from + per_page), pagination: { total: found.length } }
    },
  })
  const { domain, status } = list.asked.filters
  const waiting = domain
    ? (overview.data?.by_domain.find((one) => one.domain === domain)?.count ?? 0)
    : (overview.data?.total ?? 0)
  return (
    <>
      <Heading
        title={t.title}
        badge={
          overview.data?.queue_error && (
            <Badge tone="warn">
              {t.partly}: {overview.data.queue_error}
            </Badge>
          )
        }
      >
        {may<'POST /queue/mail-queue/by-sender'>('operator') && (overview.data?.total ?? 0) > 0 && (
          <>
            <button type="button" onClick={() => setSelecting('sender')}>
              {t.bySender}
            </button>
            <button type="button" onClick={() => setSelecting('filter')}>
              {t.byFilter}
            </button>
          </>
        )}
        {may<'POST /queue/mail-queue/flush'>('operator') && (overview.data?.total ?? 0) > 0 && (
          <button type="button" onClick={() => setFlushing(true)}>
            {domain ? t.flushOf(domain) : t.flush}
          </button>
        )}
      </Heading>
      {overview.data && <Counts overview={overview.data} />}
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.anyStatus}
          value={status}
          options={Object.entries(t.statuses)}
          change={(value) => list.set({ status: value })}
        />
        <Choice
          label={t.anyDomain}
          value={domain}
          options={(overview.data?.by_domain ?? []).map(
            (one) => [one.domain, t.domain(one.domain, number(one.count))] as const,
          )}
          change={(value) => list.set({ domain: value })}
        />
      </SearchBar>
      {waiting > LISTED && (
        <p class="muted gap" role="status">
          {t.firstOf(number(LISTED), number(waiting))}
        </p>
      )}
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ queue_id }) => queue_id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
      <Samples />
      <BySender sender="" open={selecting === 'sender'} onClose={() => setSelecting(undefined)} />
      <ByFilter open={selecting === 'filter'} onClose={() => setSelecting(undefined)} />
      <Confirm
        open={flushing}
        onClose={() => setFlushing(false)}
        title={t.flushTitle}
        submit={domain ? t.flushOf(domain) : t.flush}
        onConfirm={async (idempotencyKey) => {
          const { flushed } = await api.post('/queue/mail-queue/flush', {
            body: { queue_name: 'deferred', ...(domain && { domain }) },
            idempotencyKey,
          })
          forget('queue')
          toast(t.flushed(number(flushed)))
        }}
      >
        <p>{t.flushHint}</p>
      </Confirm>
    </>
  )
}

const has = ({ sender, recipients, queue_id }: Queued, text: string): boolean =>
  [sender, queue_id, ...recipients].some((one) => one.toLowerCase().includes(text.toLowerCase()))

const Counts = ({ overview: { total, active, deferred, hold } }: { overview: Overview }) => (
  <Card>
    <Facts
      facts={[
        { name: t.total, value: number(total) },
        { name: t.statuses.active, value: number(active), to: '/console/queue?status=active' },
        {
          name: t.statuses.deferred,
          value: number(deferred),
          to: '/console/queue?status=deferred',
          tone: deferred > 0 ? 'warn' : '',
        },
        {
          name: t.statuses.hold,
          value: number(hold),
          to: '/console/queue?status=hold',
          tone: hold > 0 ? 'bad' : '',
        },
      ]}
    />
  </Card>
)
