import type { Message } from '../../api/schema.ts'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { MessageStatus, type STATUSES } from '../../ui/message.tsx'
import { t as words } from '../../ui/message.words.ts'
import { MessageFilters, SubjectCell } from '../../ui/message-list.tsx'
import { Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

const columns: Column<Message>[] = [
  { title: common.when, cell: ({ timestamp }) => <Time iso={timestamp} /> },
  {
    title: words.subject,
    cell: (message) => <SubjectCell path="/app/messages" message={message} />,
  },
  {
    title: words.recipient,
    minor: true,
    cell: ({ recipient, direction }) => (
      <>
        <Text>{recipient}</Text>
        <small class="under">{t.directions[direction]}</small>
      </>
    ),
  },
  { title: words.status, cell: ({ status }) => <MessageStatus status={status} /> },
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
  'message_id',
  'status',
  'direction',
  'start_date',
  'end_date',
] as const

export function Messages() {
  const list = useList<Message, (typeof FILTERS)[number]>({
    name: 'messages',
    sort: '',
    filters: FILTERS,
    everySeconds: 30,
    read: async ({ per_page, cursor, filters }) => {
      const { messages, next_cursor } = await api.get('/messages/', {
        query: {
          ...filters,
          status: filters.status as (typeof STATUSES)[number] | undefined,
          direction: filters.direction as Message['direction'] | undefined,
          limit: per_page,
          cursor,
        },
      })
      return { items: messages, next_cursor }
    },
  })
  const { filters } = list.asked
  return (
    <>
      <Heading title={t.title} />
      <SearchBar list={list}>
        <MessageFilters filters={filters} set={list.set}>
          <Choice
            label={t.anyDirection}
            value={filters.direction}
            options={Object.entries(t.directions)}
            change={(direction) => list.set({ direction })}
          />
        </MessageFilters>
      </SearchBar>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty
            title={t.none}
            action={
              <a class="button primary" href="/app/smtp-credentials">
                {t.firstMail}
              </a>
            }
          >
            {t.noneHint}
          </Empty>
        }
      />
    </>
  )
}
