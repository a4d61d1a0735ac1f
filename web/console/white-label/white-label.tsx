import type { OrganizationListItem, WhitelabelConfig } from '../../api/schema.ts'
import { useQuery } from '../../lib/query.ts'
import { ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

/** The brand of an organization; the list and the editor share the answer. */
export const useBrand = (id: string) =>
  useQuery(`white-label ${id}`, () =>
    api.get('/whitelabel/config/{org_id}', { params: { org_id: id } }),
  )

const columns: Column<OrganizationListItem>[] = [
  {
    title: t.organization,
    sort: 'name',
    cell: ({ id, name }) => (
      <a href={`/console/white-label/${encodeURIComponent(id)}`}>
        <Text>{name}</Text>
      </a>
    ),
  },
  { title: t.brand, cell: ({ id }) => <BrandName id={id} /> },
  { title: t.host, minor: true, cell: ({ id }) => <Host id={id} /> },
]

function BrandName({ id }: { id: string }) {
  const brand = useBrand(id).data?.whitelabel
  if (!brand) return null
  return Object.keys(brand).length === 0 ? (
    <span class="muted">{t.noBrand}</span>
  ) : (
    <Text>{brand.brand_name}</Text>
  )
}

function Host({ id }: { id: string }) {
  const { data } = useBrand(id)
  return data?.whitelabel.custom_domain ? (
    <>
      <Text>{data.whitelabel.custom_domain}</Text> <HostState {...data} />
    </>
  ) : null
}

export const HostState = ({ domain_verified_at }: Pick<WhitelabelConfig, 'domain_verified_at'>) => (
  <Badge tone={domain_verified_at ? 'good' : 'warn'}>
    {domain_verified_at ? t.verified : t.notVerified}
  </Badge>
)

export function WhiteLabel() {
  const list = useList<OrganizationListItem>({
    name: 'organizations white-label',
    sort: 'name',
    read: ({ q, page, per_page, dir }) =>
      api.get('/organizations/', {
        query: { q, page, per_page, sort_by: 'name', sort_dir: dir },
      }),
  })
  return (
    <>
      <Heading title={titles.whiteLabel} />
      <p class="muted gap">{t.hint}</p>
      <SearchBar list={list} label={t.search} />
      <ListTable
        list={list}
        caption={titles.whiteLabel}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </>
  )
}
