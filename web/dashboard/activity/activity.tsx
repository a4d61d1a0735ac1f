import type { Activity as Row } from '../../api/schema.ts'
import { DateFilter } from '../../ui/filters.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { t as words } from '../../ui/message.words.ts'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { t as aliases } from '../aliases/words.ts'
import { api } from '../api.ts'
import { t as domains } from '../domains/words.ts'
import { t as mailboxes } from '../mailboxes/words.ts'
import { t as people } from '../people/words.ts'
import { t as rateLimits } from '../rate-limits/words.ts'
import { t as shared } from '../shared-mailboxes/words.ts'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

/** The first part of the names of events. */
const areas: Record<string, string> = {
  mailbox: mailboxes.title,
  alias: aliases.title,
  shared_mailbox: shared.title,
  domain: domains.title,
  user: people.title,
  transport_rule: titles.transportRules,
  rate_limit: rateLimits.title,
  migration: titles.migration,
  ...t.areas,
}

/** The API describes events in English; other languages have words for the usual ones. */
function What({ kind, action, summary }: Row) {
  const [area = '', ...rest] = action.split('.')
  const event = t.events[rest.join('.')]
  return (
    <>
      {event ? `${areas[area] ?? area}: ${event}` : <span lang="en">{summary}</span>}{' '}
      {kind === 'operator' && <Badge tone="info">{t.kinds.operator}</Badge>}
    </>
  )
}

const columns: Column<Row>[] = [
  { title: common.when, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: t.what, cell: (row) => <What {...row} /> },
  { title: t.subject, cell: ({ subject }) => <Text>{subject}</Text> },
]

const FILTERS = ['area', 'kind', 'date_from', 'date_to'] as const

export function Activity() {
  const list = useList<Row, (typeof FILTERS)[number]>({
    name: 'activity',
    sort: '',
    filters: FILTERS,
    everySeconds: 30,
    read: ({ q, page, per_page, filters: { area, kind, ...dates } }) =>
      api.get('/activity/', {
        query: {
          ...dates,
          q,
          page,
          per_page,
          action: area && `${area}.*`,
          kind: kind as Row['kind'] | undefined,
        },
      }),
  })
  const { area, kind, date_from, date_to } = list.asked.filters
  return (
    <>
      <Heading title={t.title} />
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.anyArea}
          value={area}
          options={Object.entries(areas)}
          change={(area) => list.set({ area })}
        />
        <Choice
          label={t.anyKind}
          value={kind}
          options={Object.entries(t.kinds)}
          change={(kind) => list.set({ kind })}
        />
        <DateFilter
          label={words.from}
          value={date_from}
          change={(date_from) => list.set({ date_from })}
        />
        <DateFilter label={words.to} value={date_to} change={(date_to) => list.set({ date_to })} />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ kind, id }) => kind + id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </>
  )
}
