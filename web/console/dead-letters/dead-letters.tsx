import { useState } from 'preact/hooks'
import type { WebhookDeadLetter } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { RowButton } from '../../ui/buttons.tsx'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { Details, Source } from '../../ui/details.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { OrganizationLink } from '../organization-link.tsx'
import { t } from './words.ts'

const TONES = { pending: 'bad', retrying: 'info', resolved: 'good', abandoned: '' } as const
const isOpen = ({ status }: WebhookDeadLetter) => status === 'pending'

const columns = (show: (id: number) => void): Column<WebhookDeadLetter>[] => [
  { title: common.when, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: t.event, cell: ({ event_type }) => <code>{event_type}</code> },
  {
    title: t.status,
    cell: ({ status }) => <Badge tone={TONES[status]}>{t.statuses[status]}</Badge>,
  },
  {
    title: t.organization,
    minor: true,
    cell: ({ organization_id }) =>
      organization_id ? <OrganizationLink id={organization_id} /> : t.platform,
  },
  { title: t.endpoint, minor: true, cell: ({ endpoint_url }) => <Text>{endpoint_url}</Text> },
  {
    title: common.actions,
    quiet: true,
    cell: ({ id, event_type }) => (
      <RowButton name={event_type} onClick={() => show(id)}>
        {t.open}
      </RowButton>
    ),
  },
]

/** Events of every organization that could not be delivered. */
export function DeadLetters() {
  const may = useMay()
  const [shown, setShown] = useState<number>()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [open, setOpen] = useState<'replay' | 'resolve'>()
  const list = useList<WebhookDeadLetter, 'status'>({
    name: 'dead-letters',
    sort: '',
    filters: ['status'],
    read: ({ page, per_page, filters }) =>
      api.get('/webhooks/dead-letters', {
        query: { page, per_page, ...(filters.status && { status: filters.status }) },
      }),
  })
  const mayChange = may<'POST /webhooks/dead-letters/replay'>('operator')
  const ids = shown === undefined ? [...chosen].map(Number) : [shown]
  const close = () => {
    setOpen(undefined)
    setShown(undefined)
  }
  const done = (text: string) => {
    forget('dead-letter')
    setChosen(new Set())
    toast(text)
  }
  return (
    <>
      <Heading title={t.title}>
        {chosen.size > 0 && (
          <button type="button" class="primary" onClick={() => setOpen('replay')}>
            {t.replay}: {number(chosen.size)}
          </button>
        )}
      </Heading>
      <SearchBar list={list}>
        <Choice
          label={t.anyStatus}
          value={list.asked.filters.status}
          options={Object.entries(t.statuses)}
          change={(status) => list.set({ status })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns(setShown)}
        rowKey={({ id }) => String(id)}
        rowName={({ event_type }) => event_type}
        selection={mayChange ? { chosen, change: setChosen } : undefined}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
      <Dialog
        title={t.title}
        open={shown !== undefined && open === undefined}
        onClose={close}
        size="wide"
      >
        {shown !== undefined && (
          <Letter id={shown} act={mayChange ? (which) => setOpen(which) : undefined} />
        )}
      </Dialog>
      <ConfirmWithReason
        kind="dead-letter"
        open={open === 'replay'}
        onClose={close}
        title={t.replay}
        submit={t.replay}
        onConfirm={async (reason, idempotencyKey) => {
          const { replayed, failed } = await api.post('/webhooks/dead-letters/replay', {
            body: { dead_letter_ids: ids, reason },
            idempotencyKey,
          })
          const [problem] = failed
          done(
            problem
              ? t.notReplayed(String(problem.id), problem.error)
              : t.replayed(number(replayed.length)),
          )
        }}
      >
        <p>{t.replayHint}</p>
      </ConfirmWithReason>
      <ConfirmWithReason
        kind="dead-letter"
        open={open === 'resolve'}
        onClose={close}
        title={t.resolve}
        submit={t.resolve}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/webhooks/dead-letters/{dead_letter_id}/resolve', {
            params: { dead_letter_id: String(shown) },
            body: { reason },
            idempotencyKey,
          })
          done(t.resolved)
        }}
      >
        <p>{t.resolveHint}</p>
      </ConfirmWithReason>
    </>
  )
}

function Letter({
  id,
  act,
}: {
  id: number
  act: ((which: 'replay' | 'resolve') => void) | undefined
}) {
  const { data, error, again } = useQuery(`dead-letter ${id}`, () =>
    api.get('/webhooks/dead-letters/{dead_letter_id}', { params: { dead_letter_id: String(id) } }),
  )
  if (!data) return <Failed error={error} again={again} />
  return (
    <div class="stack">
      <Details
        rows={[
          [t.event, <code key="event">{data.event_type}</code>],
          [t.endpoint, <Text key="endpoint">{data.endpoint_url}</Text>],
          [t.attempts, number(data.attempt_count)],
          [t.lastError, <Text key="error">{data.last_error}</Text>],
          [common.when, <Time key="when" iso={data.created_at} form="dateTime" />],
        ]}
      />
      <Source
        label={t.payload}
        text={data.payload_error ?? JSON.stringify(data.payload, null, 2)}
      />
      {act && (
        <p class="actions">
          {data.replayable && (
            <button type="button" class="primary" onClick={() => act('replay')}>
              {t.replay}
            </button>
          )}
          {isOpen(data) && (
            <button type="button" onClick={() => act('resolve')}>
              {t.resolve}
            </button>
          )}
        </p>
      )}
    </div>
  )
}
