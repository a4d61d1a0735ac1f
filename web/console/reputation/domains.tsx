import type { DomainReputation } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Empty, Heading, Text } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { api } from '../api.ts'
import { OrganizationLink } from '../organization-link.tsx'
import { Score } from './score.tsx'
import { ReputationTabs } from './tabs.tsx'
import { t } from './words.ts'

const SCORES = [80, 50]

export const domainColumns: Column<DomainReputation>[] = [
  {
    title: t.domain,
    sort: 'domain',
    cell: ({ domain }) => (
      <a href={`/console/reputation/domains/${encodeURIComponent(domain)}`}>
        <Text>{domain}</Text>
      </a>
    ),
  },
  {
    title: t.score,
    sort: 'overall_score',
    cell: ({ overall_score }) => <Score value={overall_score} />,
  },
  {
    title: t.organization,
    minor: true,
    cell: ({ organization_id }) => <OrganizationLink id={organization_id} />,
  },
  {
    title: t.sent,
    sort: 'emails_sent',
    number: true,
    cell: ({ emails_sent }) => number(emails_sent),
  },
  {
    title: t.bounced,
    sort: 'emails_bounced',
    number: true,
    minor: true,
    cell: ({ emails_bounced }) => number(emails_bounced),
  },
  {
    title: t.complaint,
    sort: 'emails_complained',
    number: true,
    minor: true,
    cell: ({ emails_complained }) => number(emails_complained),
  },
]

export function ReputationDomains() {
  const list = useList({
    name: 'reputation domains',
    sort: 'overall_score',
    filters: ['period', 'score'],
    read: ({ q, page, per_page, sort, dir, filters }) =>
      api.get('/reputation/domains', {
        query: {
          q,
          page,
          per_page,
          sort_by: sort as 'domain',
          sort_dir: dir,
          ...(filters.period && { period_type: filters.period }),
          ...(filters.score && { max_score: Number(filters.score) }),
        },
      }),
  })
  const { period, score } = list.asked.filters
  return (
    <>
      <Heading title={t.domains} />
      <ReputationTabs />
      <SearchBar list={list} label={t.searchDomain}>
        <Choice
          label={t.period}
          value={period}
          options={Object.entries(t.periods)}
          change={(value) => list.set({ period: value })}
        />
        <Choice
          label={t.anyScore}
          value={score}
          options={SCORES.map((one) => [String(one), t.below(one)] as const)}
          change={(value) => list.set({ score: value })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.domains}
        columns={domainColumns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.noDomains}>{t.noDomainsHint}</Empty>}
      />
    </>
  )
}
