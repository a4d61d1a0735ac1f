import type { DeletedMailbox } from '../../api/schema.ts'
import { ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { api } from '../api.ts'
import { OrganizationLink } from '../organization-link.tsx'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

const columns: Column<DeletedMailbox>[] = [
  { title: t.mailbox, cell: ({ email }) => <Text>{email}</Text> },
  {
    title: t.organization,
    minor: true,
    cell: ({ organization_id }) => <OrganizationLink id={organization_id} />,
  },
  { title: t.deleted, minor: true, cell: ({ deleted_at }) => <Time iso={deleted_at} /> },
  { title: t.purge, cell: ({ purge_after }) => <Time iso={purge_after} form="dateTime" /> },
  {
    title: t.state,
    cell: ({ held, attempts, error_message }) => (
      <>
        {held && <Badge tone="info">{t.held}</Badge>}
        {error_message && (
          <div class="wrong" lang="en">
            {t.attempts(attempts)}: <Text>{error_message}</Text>
          </div>
        )}
      </>
    ),
  },
]

export function DeletedMailboxes() {
  const list = useList({
    name: 'deleted mailboxes',
    sort: '',
    read: ({ q, page, per_page }) =>
      api.get('/platform/deleted-mailboxes', { query: { q, page, per_page } }),
  })
  return (
    <>
      <Heading title={titles.deletedMailboxes} />
      <p class="muted gap">{t.hint}</p>
      <SearchBar list={list} label={t.search} />
      <ListTable
        list={list}
        caption={titles.deletedMailboxes}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.none} />}
      />
    </>
  )
}
