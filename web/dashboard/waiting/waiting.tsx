import { useState } from 'preact/hooks'
import type { Get } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { ConfirmByNameWithReason } from '../../ui/confirm.tsx'
import { ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

type Queued = Get['/queue/own']['data']['messages'][number]

const columns: Column<Queued>[] = [
  { title: t.sender, cell: ({ sender }) => <Text>{sender}</Text> },
  { title: t.recipients, cell: ({ recipients }) => <Text>{recipients.join(', ')}</Text> },
  { title: t.reason, minor: true, cell: ({ reason }) => <Text>{reason}</Text> },
  { title: t.since, minor: true, cell: ({ arrival_time }) => <Time iso={arrival_time} /> },
  { title: common.actions, quiet: true, cell: (one) => <Remove {...one} /> },
]

function Remove({ queue_id, recipients }: Queued) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  if (!may<'DELETE /queue/own/{queue_id}'>('write')) return null
  return (
    <>
      <button type="button" class="small" onClick={() => setOpen(true)}>
        {t.remove}
      </button>
      <ConfirmByNameWithReason
        name={recipients[0] ?? queue_id}
        kind="waiting"
        open={open}
        onClose={() => setOpen(false)}
        title={t.removeTitle}
        submit={t.remove}
        onConfirm={async (reason, idempotencyKey) => {
          const params = { queue_id }
          await api.delete('/queue/own/{queue_id}', { params, body: { reason }, idempotencyKey })
          forget('waiting')
          toast(t.removed)
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByNameWithReason>
    </>
  )
}

export function Waiting() {
  const list = useList<Queued, never>({
    name: 'waiting',
    sort: '',
    filters: [],
    read: async ({ q, page, per_page }) => {
      const { messages } = await api.get('/queue/own')
      // The API sends the first 1000 messages at once, so they are searched and paged here.
      const found = messages.filter(({ sender, recipients }) =>
        [sender, ...recipients].some((one) => one.toLowerCase().includes(q.toLowerCase())),
      )
      const from = (page - 1) * per_page
      return { items: found.slice(from, from + per_page), pagination: { total: found.length } }
    },
  })
  return (
    <>
      <Heading title={t.title} />
      <p class="muted gap">{t.hint}</p>
      <SearchBar list={list} label={t.search} />
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ queue_id }) => queue_id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </>
  )
}
