import type { AuditEntry } from '../../api/schema.ts'
import { useQuery } from '../../lib/query.ts'
import { DateFilter } from '../../ui/filters.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

export const Result = ({ result }: Pick<AuditEntry, 'result'>) => (
  <Badge tone={result === 'success' ? 'good' : 'bad'}>{t[result]}</Badge>
)

export const callerOf = ({ operator_email, api_key_id }: AuditEntry): string =>
  operator_email ?? (api_key_id ? t.key(api_key_id) : t.system)

const columns: Column<AuditEntry>[] = [
  { title: common.when, cell: ({ created_at }) => <Time iso={created_at} /> },
  {
    title: t.action,
    cell: ({ id, action }) => (
      <a href={`/console/audit/${id}`}>
        <code>{action}</code>
      </a>
    ),
  },
  { title: t.by, minor: true, cell: (entry) => <Text>{callerOf(entry)}</Text> },
  {
    title: t.target,
    minor: true,
    cell: ({ target_type, target_id }) => (
      <Text>{[target_type, target_id].filter(Boolean).join(' ')}</Text>
    ),
  },
  { title: t.address, minor: true, cell: ({ ip_address }) => <code>{ip_address}</code> },
  { title: t.result, cell: (entry) => <Result {...entry} /> },
]

const FILTERS = [
  'action',
  'operator_id',
  'target_type',
  'target_id',
  'result',
  'caller_scope',
  'organization_id',
  'correlation_id',
  'date_from',
  'date_to',
] as const

const named = (name: string) => [name, name] as const

export function Audit() {
  const list = useList<AuditEntry, (typeof FILTERS)[number]>({
    name: 'audit',
    sort: '',
    filters: FILTERS,
    read: ({ q, page, per_page, filters }) =>
      api.get('/platform/audit', {
        query: {
          ...filters,
          q,
          page,
          per_page,
          result: filters.result as 'success' | undefined,
          caller_scope: filters.caller_scope as 'platform' | undefined,
        },
      }),
  })
  const facets = useQuery('audit facets', () => api.get('/platform/audit/facets')).data
  const { filters } = list.asked
  return (
    <>
      <Heading title={t.title} />
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.anyAction}
          value={filters.action}
          options={(facets?.actions ?? []).map(named)}
          change={(action) => list.set({ action })}
        />
        <Choice
          label={t.anyOperator}
          value={filters.operator_id}
          options={(facets?.operators ?? []).map(({ id, email }) => [id, email] as const)}
          change={(operator_id) => list.set({ operator_id })}
        />
        <Choice
          label={t.anyTarget}
          value={filters.target_type}
          options={(facets?.target_types ?? []).map(named)}
          change={(target_type) => list.set({ target_type })}
        />
        <Choice
          label={t.anyResult}
          value={filters.result}
          options={[
            ['success', t.success],
            ['failure', t.failure],
          ]}
          change={(result) => list.set({ result })}
        />
        <Choice
          label={t.anyScope}
          value={filters.caller_scope}
          options={[
            ['platform', t.platform],
            ['organization', t.organizationScope],
          ]}
          change={(caller_scope) => list.set({ caller_scope })}
        />
        <DateFilter
          label={t.from}
          value={filters.date_from}
          change={(date_from) => list.set({ date_from })}
        />
        <DateFilter
          label={t.to}
          value={filters.date_to}
          change={(date_to) => list.set({ date_to })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => String(id)}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </>
  )
}
