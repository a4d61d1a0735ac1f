import { useState } from 'preact/hooks'
import type { ArchivedMessage as Row } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { DateFilter } from '../../ui/filters.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { t as words } from '../../ui/message.words.ts'
import { Bytes, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

/** Saves the message as a file of this computer. */
async function download(id: string, reason: string): Promise<void> {
  const file = await api.file('/archive/{archive_id}/restore', {
    params: { archive_id: id },
    body: { reason },
  })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = `${id}.eml`
  link.click()
  URL.revokeObjectURL(link.href)
}

function Restore({ row }: { row: Row }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  if (!may<'POST /archive/{archive_id}/restore'>('admin')) return null
  return (
    <>
      <button type="button" class="button small" onClick={() => setOpen(true)}>
        {t.restore}
        <span class="hidden"> {row.subject ?? t.noSubject}</span>
      </button>
      <ConfirmWithReason
        kind="archive-restore"
        open={open}
        onClose={() => setOpen(false)}
        title={t.restoreTitle}
        submit={t.restore}
        onConfirm={(reason) => download(row.id, reason)}
      >
        <p>
          <Text>{row.subject ?? t.noSubject}</Text>
        </p>
        <p>{t.restoreHint}</p>
      </ConfirmWithReason>
    </>
  )
}

const columns: Column<Row>[] = [
  { title: common.when, cell: ({ received_at }) => <Time iso={received_at} /> },
  {
    title: words.subject,
    cell: ({ subject, direction }) => (
      <>
        <Text>{subject ?? t.noSubject}</Text>
        <small class="under">{t.directions[direction]}</small>
      </>
    ),
  },
  {
    title: t.people,
    minor: true,
    cell: ({ sender, recipients }) => (
      <>
        <Text>{sender || t.bounce}</Text>
        <small class="under">
          <Text>{recipients.join(', ')}</Text>
        </small>
      </>
    ),
  },
  { title: words.size, minor: true, cell: ({ size }) => <Bytes value={size} /> },
  { title: common.actions, cell: (row) => <Restore row={row} /> },
]

const FILTERS = ['direction', 'start_date', 'end_date'] as const

export function Archive() {
  const list = useList<Row, (typeof FILTERS)[number]>({
    name: 'archive',
    sort: '',
    filters: FILTERS,
    everySeconds: 60,
    read: ({ q, page, per_page, filters: { direction, ...dates } }) =>
      api.get('/archive/search', {
        query: {
          ...dates,
          q,
          page,
          per_page,
          direction: direction as Row['direction'] | undefined,
        },
      }),
  })
  const { direction, start_date, end_date } = list.asked.filters
  return (
    <>
      <Heading title={titles.archive} />
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.anyDirection}
          value={direction}
          options={Object.entries(t.directions)}
          change={(direction) => list.set({ direction })}
        />
        <DateFilter
          label={words.from}
          value={start_date}
          change={(start_date) => list.set({ start_date })}
        />
        <DateFilter
          label={words.to}
          value={end_date}
          change={(end_date) => list.set({ end_date })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={titles.archive}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </>
  )
}
