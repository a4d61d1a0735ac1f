import type { EmailAccountListItem } from '../../api/schema.ts'
import { ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Text, Time, Usage } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { DomainList } from '../domains/domains.tsx'
import { MoveMailbox } from '../mail-hosts/move-dialog.tsx'
import { Frame } from './frame.tsx'
import { t } from './words.ts'

export const OrganizationDomains = () => (
  <Frame part={t.domains}>{({ id }) => <DomainList of={id} />}</Frame>
)

export const OrganizationMailboxes = () => (
  <Frame part={t.mailboxes}>{({ id }) => <Mailboxes of={id} />}</Frame>
)

const TONES = { active: 'good', inactive: '', suspended: 'bad' } as const

const columns: Column<EmailAccountListItem>[] = [
  { title: t.address, sort: 'email', cell: ({ email }) => <Text>{email}</Text> },
  { title: t.name, minor: true, cell: ({ name }) => <Text>{name}</Text> },
  {
    title: t.status,
    cell: ({ status }) => <Badge tone={TONES[status]}>{t.mailboxStatus[status]}</Badge>,
  },
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
  { title: common.actions, quiet: true, cell: ({ email }) => <MoveMailbox email={email} /> },
]

function Mailboxes({ of }: { of: string }) {
  const list = useList({
    name: `mailboxes ${of}`,
    sort: 'email',
    read: ({ q, page, per_page, sort, dir }) =>
      api.get('/mailboxes/email-accounts', {
        query: {
          q,
          page,
          per_page,
          sort_by: sort as 'email',
          sort_dir: dir,
          organization_id: of,
        },
      }),
  })
  return (
    <>
      <SearchBar list={list} label={t.searchMailboxes} />
      <ListTable
        list={list}
        caption={t.mailboxes}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.noMailboxes}>{t.noMailboxesHint}</Empty>}
      />
    </>
  )
}
