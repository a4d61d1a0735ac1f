import type { DomainListItem } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time, Usage } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

const organization: Column<DomainListItem> = {
  title: t.organization,
  minor: true,
  cell: ({ organization_id, organization_name }) => (
    <a href={`/console/organizations/${encodeURIComponent(organization_id)}`}>
      <Text>{organization_name}</Text>
    </a>
  ),
}

const own: Column<DomainListItem>[] = [
  {
    title: t.domain,
    sort: 'domain',
    cell: ({ id, domain_unicode }) => (
      <a href={`/console/domains/${id}`}>
        <Text>{domain_unicode}</Text>
      </a>
    ),
  },
  { title: t.state, cell: (domain) => <DomainState domain={domain} /> },
  {
    title: t.mailboxes,
    number: true,
    minor: true,
    cell: ({ email_account_count }) => number(email_account_count),
  },
  {
    title: t.storage,
    sort: 'total_storage_used',
    minor: true,
    cell: ({ domain, total_storage_used, max_quota }) => (
      <Usage used={total_storage_used} limit={max_quota} label={t.storageOf(domain)} />
    ),
  },
  {
    title: t.added,
    sort: 'created_at',
    minor: true,
    cell: ({ created_at }) => <Time iso={created_at} form="date" />,
  },
]

type State = Pick<DomainListItem, 'active' | 'verified_at' | 'ownership_verified_at'>

export function DomainState({ domain }: { domain: State }) {
  if (!domain.active) return <Badge>{t.inactive}</Badge>
  if (!domain.ownership_verified_at) return <Badge tone="bad">{t.unproven}</Badge>
  if (!domain.verified_at) return <Badge tone="warn">{t.unverified}</Badge>
  return <Badge tone="good">{t.verified}</Badge>
}

/** The domains of one organization, or of all. */
export function DomainList({ of }: { of?: string }) {
  const list = useList({
    name: `domains ${of ?? ''}`,
    sort: 'domain',
    read: ({ q, page, per_page, sort, dir }) =>
      api.get('/domains/', {
        query: {
          q,
          page,
          per_page,
          sort_by: sort as 'domain',
          sort_dir: dir,
          ...(of && { organization_id: of }),
        },
      }),
  })
  return (
    <>
      <SearchBar list={list} label={t.search} />
      <ListTable
        list={list}
        caption={t.title}
        columns={of ? own : [...own.slice(0, 1), organization, ...own.slice(1)]}
        rowKey={({ id }) => id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </>
  )
}

export const Domains = () => (
  <>
    <Heading title={t.title} />
    <DomainList />
  </>
)
