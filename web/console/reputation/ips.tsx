import type { IpReputation } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { api } from '../api.ts'
import { Score } from './score.tsx'
import { ReputationTabs } from './tabs.tsx'
import { t } from './words.ts'

const counted = (
  title: string,
  sort: 'total_connections' | 'total_messages' | 'spam_count' | 'auth_failure_count',
): Column<IpReputation> => ({
  title,
  sort,
  number: true,
  minor: true,
  cell: (row) => number(row[sort]),
})

export const ipColumns: Column<IpReputation>[] = [
  {
    title: t.address,
    sort: 'ip_address',
    cell: ({ ip_address, is_blocked, blocked_reason }) => (
      <>
        <code>{ip_address}</code> {is_blocked && <Badge tone="bad">{t.blocked}</Badge>}
        {blocked_reason && (
          <small class="under">
            <Text>{blocked_reason}</Text>
          </small>
        )}
      </>
    ),
  },
  {
    title: t.score,
    sort: 'reputation_score',
    cell: ({ reputation_score }) => <Score value={reputation_score} />,
  },
  counted(t.connections, 'total_connections'),
  counted(t.messages, 'total_messages'),
  counted(t.spam, 'spam_count'),
  counted(t.failedLogins, 'auth_failure_count'),
  {
    title: t.lastSeen,
    sort: 'last_seen',
    minor: true,
    cell: ({ last_seen }) => <Time iso={last_seen} />,
  },
]

export function ReputationIps() {
  const list = useList({
    name: 'reputation ips',
    sort: 'reputation_score',
    filters: ['blocked'],
    read: ({ q, page, per_page, sort, dir, filters }) =>
      api.get('/reputation/ips', {
        query: {
          q,
          page,
          per_page,
          sort_by: sort as 'last_seen',
          sort_dir: dir,
          ...(filters.blocked && { is_blocked: filters.blocked === 'true' }),
        },
      }),
  })
  return (
    <>
      <Heading title={t.ips} />
      <ReputationTabs />
      <SearchBar list={list} label={t.searchIp}>
        <Choice
          label={t.blockedOrNot}
          value={list.asked.filters.blocked}
          options={[
            ['true', t.blocked],
            ['false', t.notBlocked],
          ]}
          change={(blocked) => list.set({ blocked })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.ips}
        columns={ipColumns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.noIps}>{t.noIpsHint}</Empty>}
      />
    </>
  )
}
