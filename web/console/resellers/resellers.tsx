import { useState } from 'preact/hooks'
import type { Get, SubOrganization } from '../../api/schema.ts'
import { bytes, number } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Download } from '../../ui/copy.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Card, Empty, Facts, Heading, Text, Usage } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { OrganizationLink } from '../organization-link.tsx'
import { AddCustomer, CustomerActions } from './customer-actions.tsx'
import { t } from './words.ts'

type Billing = Get['/reseller/billing/summary']['data']

const columns: Column<SubOrganization>[] = [
  {
    title: t.customer,
    cell: ({ id, name, status, parent_organization_id: reseller }) => (
      <>
        <a href={`/console/organizations/${encodeURIComponent(id)}`}>
          <Text>{name}</Text>
        </a>{' '}
        {status === 'inactive' && <Badge tone="bad">{t.inactive}</Badge>}
        <small class="under">
          {t.reseller}:{' '}
          <OrganizationLink
            id={reseller}
            to={`/console/resellers?reseller=${encodeURIComponent(reseller)}`}
          />
        </small>
      </>
    ),
  },
  { title: t.plan, cell: ({ plan }) => <Text>{plan.plan_name ?? t.noPlan}</Text> },
  {
    title: t.mailboxes,
    minor: true,
    cell: ({ name, user_count, plan }) => (
      <Usage
        used={user_count}
        limit={plan.max_users ?? 0}
        label={t.usedBy(t.mailboxes, name)}
        show={number}
      />
    ),
  },
  {
    title: t.domains,
    minor: true,
    cell: ({ name, domain_count, plan }) => (
      <Usage
        used={domain_count}
        limit={plan.max_domains ?? 0}
        label={t.usedBy(t.domains, name)}
        show={number}
      />
    ),
  },
  {
    title: t.storage,
    minor: true,
    cell: ({ name, storage_used, plan }) => (
      <Usage
        used={storage_used}
        limit={plan.storage_limit ?? 0}
        label={t.usedBy(t.storage, name)}
      />
    ),
  },
  { title: common.actions, quiet: true, cell: (one) => <CustomerActions customer={one} /> },
]

export function Resellers() {
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'reseller list',
    sort: '',
    filters: ['status', 'reseller'],
    read: ({ page, per_page, filters }) =>
      api.get('/reseller/sub-organizations', {
        query: {
          page,
          per_page,
          ...(filters.status && { status: filters.status as 'active' }),
          ...(filters.reseller && { parent_org_id: filters.reseller }),
        },
      }),
  })
  const { reseller, status } = list.asked.filters
  const billing = useQuery(`reseller billing ${reseller ?? ''}`, () =>
    api.get('/reseller/billing/summary', {
      query: reseller ? { parent_org_id: reseller } : {},
    }),
  )
  const add = <AddButton onClick={() => setAdding(true)}>{t.add}</AddButton>
  return (
    <>
      <Heading title={t.title}>
        {billing.data && billing.data.per_org_breakdown.length > 0 && (
          <Download name="billing.csv" text={csvOf(billing.data)}>
            {t.csv}
          </Download>
        )}
        {add}
      </Heading>
      <p class="muted gap">{t.hint}</p>
      <Failed error={billing.error} again={billing.again} />
      {billing.data && <Figures billing={billing.data} />}
      <SearchBar list={list}>
        <Choice
          label={t.anyStatus}
          value={status}
          options={[
            ['active', t.active],
            ['inactive', t.inactive],
          ]}
          change={(value) => list.set({ status: value })}
        />
        {reseller && (
          <span>
            {t.ofReseller} <OrganizationLink id={reseller} />{' '}
            <button type="button" class="link" onClick={() => list.set({ reseller: '' })}>
              {t.allResellers}
            </button>
          </span>
        )}
      </SearchBar>
      <ListTable
        list={list}
        caption={t.customers}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title={t.none} action={add}>
            {t.noneHint}
          </Empty>
        }
      />
      <AddCustomer reseller={reseller} open={adding} onClose={() => setAdding(false)} />
    </>
  )
}

const Figures = ({ billing }: { billing: Billing }) => (
  <Card>
    <Facts
      facts={[
        {
          name: t.customers,
          value: number(billing.total_sub_organizations),
          note: `${t.active}: ${number(billing.total_active_sub_organizations)}`,
        },
        { name: t.mailboxes, value: number(billing.total_mailboxes) },
        { name: t.domains, value: number(billing.total_domains) },
        { name: t.used, value: bytes(billing.total_storage_used) },
        { name: t.promised, value: bytes(billing.total_storage_allocated) },
        ...billing.by_plan.map(({ plan_name, count }) => ({
          name: `${t.plan}: ${plan_name ?? t.noPlan}`,
          value: number(count),
        })),
      ]}
    />
  </Card>
)

const HEAD = 'id,name,status,plan,mailboxes,domains,storage_used_bytes,storage_limit_bytes'

/** One line for each customer. Names are quoted, and no spreadsheet takes them for a formula. */
const csvOf = ({ per_org_breakdown }: Billing): string =>
  [
    HEAD,
    ...per_org_breakdown.map((one) =>
      [
        quoted(one.org_id),
        quoted(one.name),
        one.status,
        quoted(one.plan_name ?? ''),
        one.users,
        one.domains,
        one.storage_used,
        one.storage_limit ?? '',
      ].join(','),
    ),
  ].join('\r\n')

const quoted = (text: string) =>
  `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
