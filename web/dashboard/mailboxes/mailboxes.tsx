import { useState } from 'preact/hooks'
import type { EmailAccountListItem } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { useQuery } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Empty, Heading, Text, Time, Usage } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { MailboxActions } from './actions.tsx'
import { AddMailbox } from './add-mailbox.tsx'
import { AddManyMailboxes } from './add-many.tsx'
import { t as many } from './add-many.words.ts'
import { Status } from './status.tsx'
import { t } from './words.ts'

const columns: Column<EmailAccountListItem>[] = [
  {
    title: t.address,
    sort: 'email',
    cell: ({ id, email }) => (
      <a href={`/app/mailboxes/${id}`}>
        <Text>{email}</Text>
      </a>
    ),
  },
  { title: t.name, minor: true, cell: ({ name }) => <Text>{name}</Text> },
  { title: t.status, cell: ({ status }) => <Status status={status} /> },
  {
    title: t.storage,
    sort: 'storage_used',
    minor: true,
    cell: ({ email, storage_used, storage_quota }) => (
      <Usage used={storage_used} limit={storage_quota} label={t.storageOf(email)} />
    ),
  },
  {
    title: t.lastSignIn,
    sort: 'last_login',
    minor: true,
    cell: ({ last_login }) => <Time iso={last_login} />,
  },
  { title: common.actions, quiet: true, cell: (account) => <MailboxActions account={account} /> },
]

const STATUSES = [
  ['active', t.active],
  ['inactive', t.inactive],
  ['suspended', t.suspended],
] as const

export function Mailboxes() {
  const may = useMay()
  const [adding, setAdding] = useState<'one' | 'many'>()
  const list = useList({
    name: 'mailboxes',
    sort: 'email',
    filters: ['status', 'domain'],
    read: ({ q, page, per_page, sort, dir, filters }) =>
      api.get('/mailboxes/email-accounts', {
        query: {
          q,
          page,
          per_page,
          sort_by: sort as 'email',
          sort_dir: dir,
          ...(filters.status && { status: filters.status as 'active' }),
          ...(filters.domain && { domain_id: filters.domain }),
        },
      }),
  })
  const domains = useQuery('domains choice', () =>
    api.get('/domains/', { query: { per_page: 200 } }),
  )
  const mayAdd = may<'POST /mailboxes/email-accounts'>('write')
  const add = (words: string) =>
    mayAdd && <AddButton onClick={() => setAdding('one')}>{words}</AddButton>
  return (
    <>
      <Heading title={t.title}>
        {mayAdd && (
          <button type="button" onClick={() => setAdding('many')}>
            {many.title}
          </button>
        )}
        {add(t.add)}
      </Heading>
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.anyStatus}
          value={list.asked.filters.status}
          options={STATUSES}
          change={(status) => list.set({ status })}
        />
        <Choice
          label={t.anyDomain}
          value={list.asked.filters.domain}
          options={(domains.data?.items ?? []).map(
            ({ id, domain_unicode }) => [id, domain_unicode] as const,
          )}
          change={(domain) => list.set({ domain })}
        />
      </SearchBar>
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
      <AddMailbox open={adding === 'one'} onClose={() => setAdding(undefined)} />
      <AddManyMailboxes open={adding === 'many'} onClose={() => setAdding(undefined)} />
    </>
  )
}
