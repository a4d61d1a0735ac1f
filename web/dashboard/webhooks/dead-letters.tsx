import { useState } from 'preact/hooks'
import type { WebhookDeadLetter } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useAction, useQuery } from '../../lib/query.ts'
import { Details } from '../../ui/details.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time, type Tone } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './dead-letters.words.ts'
import { Payload } from './payload.tsx'
import { t as webhooks } from './words.ts'

const TONES: Record<WebhookDeadLetter['status'], Tone> = {
  pending: 'bad',
  retrying: 'warn',
  resolved: 'good',
  abandoned: '',
}

const columns: Column<WebhookDeadLetter>[] = [
  { title: common.when, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: webhooks.event, cell: ({ event_type }) => <code>{event_type}</code> },
  {
    title: webhooks.status,
    cell: ({ status }) => <Badge tone={TONES[status]}>{t.statuses[status]}</Badge>,
  },
  {
    title: webhooks.url,
    minor: true,
    cell: ({ endpoint_url }) => <Text>{endpoint_url}</Text>,
  },
  {
    title: t.error,
    minor: true,
    cell: ({ last_error }) => (
      <span lang="en">
        <Text>{last_error}</Text>
      </span>
    ),
  },
]

export function DeadLetters() {
  const [shown, setShown] = useState<number>()
  const list = useList({
    name: 'webhook dead letters',
    sort: '',
    filters: ['status'],
    read: ({ page, per_page, filters }) =>
      api.get('/webhooks/dead-letters', {
        query: {
          page,
          per_page,
          ...(filters.status && { status: filters.status }),
        },
      }),
  })
  const close = () => setShown(undefined)
  return (
    <>
      <Heading title={t.title} parent={{ title: webhooks.title, to: '/app/webhooks' }} />
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
        columns={[
          ...columns,
          {
            title: common.actions,
            quiet: true,
            cell: ({ id }) => (
              <button type="button" class="small" onClick={() => setShown(id)}>
                {webhooks.details}
              </button>
            ),
          },
        ]}
        rowKey={({ id }) => String(id)}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
      <Dialog title={t.title} open={shown !== undefined} onClose={close} size="wide">
        {shown !== undefined && <Letter id={shown} onReplayed={close} />}
      </Dialog>
    </>
  )
}

function Letter({ id, onReplayed }: { id: number; onReplayed(): void }) {
  const may = useMay()
  const params = { dead_letter_id: String(id) }
  const { data, error, again } = useQuery(`webhook dead letter ${id}`, () =>
    api.get('/webhooks/dead-letters/{dead_letter_id}/mine', { params }),
  )
  const replay = useAction(async (idempotencyKey) => {
    await api.post('/webhooks/dead-letters/{dead_letter_id}/replay-mine', {
      params,
      idempotencyKey,
    })
    forget('webhook')
    toast(t.replayed)
    onReplayed()
  })
  if (!data) return <Failed error={error} again={again} />
  const mayReplay = may<'POST /webhooks/dead-letters/{dead_letter_id}/replay-mine'>('write')
  return (
    <div class="stack">
      <Failed error={replay.error} />
      <Details
        rows={[
          [
            webhooks.status,
            <Badge key="status" tone={TONES[data.status]}>
              {t.statuses[data.status]}
            </Badge>,
          ],
          [webhooks.url, <Text key="url">{data.endpoint_url}</Text>],
          [t.error, <Text key="error">{data.last_error}</Text>],
          [webhooks.attempt, data.attempt_count],
        ]}
      />
      {data.replayable && mayReplay && (
        <p>
          <button
            type="button"
            class="primary"
            disabled={replay.busy}
            onClick={() => void replay.run()}
          >
            {t.replay}
          </button>
        </p>
      )}
      <Payload payload={data.payload} />
    </div>
  )
}
