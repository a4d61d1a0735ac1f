import type { TraceRow } from '../../api/schema.ts'
import { TextFilter } from '../../ui/filters.tsx'
import { ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { MessageStatus, type STATUSES } from '../../ui/message.tsx'
import { t as words } from '../../ui/message.words.ts'
import { MessageFilters, SubjectCell } from '../../ui/message-list.tsx'
import { Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

const columns: Column<TraceRow>[] = [
  { title: common.when, cell: ({ timestamp }) => <Time iso={timestamp} /> },
  {
    title: words.subject,
    cell: (message) => <SubjectCell path="/console/trace" message={message} />,
  },
  { title: words.recipient, minor: true, cell: ({ recipient }) => <Text>{recipient}</Text> },
  {
    title: words.status,
    cell: ({ status }) => <MessageStatus status={status} />,
  },
  {
    title: words.said,
    minor: true,
    cell: ({ bounce_reason }) => <Text>{bounce_reason}</Text>,
  },
]

const FILTERS = [
  'sender',
  'recipient',
  'subject',
  'login',
  'message_id',
  'status',
  'organization_id',
  'start_date',
  'end_date',
] as const

export function Trace() {
  const list = useList<TraceRow, (typeof FILTERS)[number]>({
    name: 'trace',
    sort: '',
    filters: FILTERS,
    read: ({ page, per_page, filters }) =>
      api.list('/message-trace/trace', {
        query: {
          ...filters,
          status: filters.status as (typeof STATUSES)[number] | undefined,
          limit: per_page,
          offset: (page - 1) * per_page,
        },
      }),
  })
  const { filters } = list.asked
  return (
    <>
      <Heading title={t.title} />
      <SearchBar list={list}>
        <MessageFilters filters={filters} set={list.set}>
          <TextFilter
            label={words.login}
            value={filters.login}
            change={(login) => list.set({ login })}
          />
        </MessageFilters>
      </SearchBar>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </>
  )
}
