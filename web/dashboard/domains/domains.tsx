import { useState } from 'preact/hooks'
import type { DomainListItem } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { go } from '../../lib/router.tsx'
import { AddButton } from '../../ui/buttons.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Bytes, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

const columns: Column<DomainListItem>[] = [
  {
    title: t.domain,
    sort: 'domain',
    cell: ({ id, domain_unicode }) => (
      <a href={`/app/domains/${id}`}>
        <Text>{domain_unicode}</Text>
      </a>
    ),
  },
  { title: t.dns, cell: (domain) => <DnsState domain={domain} /> },
  {
    title: t.mailboxes,
    number: true,
    cell: ({ id, email_account_count }) => (
      <a href={`/app/mailboxes?domain=${id}`}>{number(email_account_count)}</a>
    ),
  },
  {
    title: t.storage,
    number: true,
    minor: true,
    sort: 'total_storage_used',
    cell: ({ total_storage_used }) => <Bytes value={total_storage_used} />,
  },
  {
    title: t.created,
    minor: true,
    sort: 'created_at',
    cell: ({ created_at }) => <Time iso={created_at} form="date" />,
  },
]

type State = Pick<DomainListItem, 'active' | 'verified_at' | 'ownership_verified_at'>

export function DnsState({ domain }: { domain: State }) {
  if (!domain.active) return <Badge>{t.inactive}</Badge>
  if (!domain.ownership_verified_at) return <Badge tone="bad">{t.unproven}</Badge>
  if (!domain.verified_at) return <Badge tone="warn">{t.unverified}</Badge>
  return <Badge tone="good">{t.verified}</Badge>
}

export function Domains() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'domains',
    sort: 'domain',
    read: ({ q, page, per_page, sort, dir }) =>
      api.get('/domains/', {
        query: { q, page, per_page, sort_by: sort as 'domain', sort_dir: dir },
      }),
  })
  const add = (words: string) =>
    may<'POST /domains/'>('write') && <AddButton onClick={() => setAdding(true)}>{words}</AddButton>
  return (
    <>
      <Heading title={t.title}>{add(t.add)}</Heading>
      <SearchBar list={list} label={t.search} />
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title={t.none} action={add(t.addFirst)}>
            {t.noneHint}
          </Empty>
        }
      />
      <FormDialog
        title={t.add}
        open={adding}
        onClose={() => setAdding(false)}
        submit={t.add}
        onSubmit={async (values, idempotencyKey) => {
          const { id, domain_unicode } = await api.post('/domains/', {
            body: { domain: values.text('domain') },
            idempotencyKey,
          })
          forget('domains')
          toast(t.added(domain_unicode))
          go(`/app/domains/${id}`)
        }}
      >
        <Field label={t.domain} name="domain" required autocomplete="off" hint={t.nameHint} />
      </FormDialog>
    </>
  )
}
