import { useState } from 'preact/hooks'
import type { BlockedSender } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { RowButton } from '../../ui/buttons.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { OrganizationLink } from '../organization-link.tsx'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

const columns: Column<BlockedSender>[] = [
  { title: t.sender, cell: ({ sender }) => <Text>{sender}</Text> },
  {
    title: t.organization,
    minor: true,
    cell: ({ organization_id }) => <OrganizationLink id={organization_id} />,
  },
  { title: t.reason, minor: true, cell: ({ reason }) => <Text>{reason}</Text> },
  { title: common.when, minor: true, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: common.actions, quiet: true, cell: (one) => <Lift block={one} /> },
]

/** Blocks that were made from the quarantine. */
export function BlockedSenders() {
  const list = useList({
    name: 'blocked senders',
    sort: '',
    read: async ({ q, page, per_page }) => {
      const { blocked_senders, total } = await api.get('/message-trace/blocked-senders', {
        query: { q, limit: per_page, offset: (page - 1) * per_page },
      })
      return { items: blocked_senders, pagination: { total } }
    },
  })
  return (
    <>
      <Heading title={titles.blockedSenders} />
      <p class="muted gap">{t.hint}</p>
      <SearchBar list={list} label={t.search} />
      <ListTable
        list={list}
        caption={titles.blockedSenders}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </>
  )
}

function Lift({ block: { id, sender } }: { block: BlockedSender }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  if (!may<'DELETE /message-trace/blocked-senders/{block_id}'>('operator')) return null
  return (
    <>
      <RowButton name={sender} onClick={() => setOpen(true)}>
        {t.lift}
      </RowButton>
      <Confirm
        open={open}
        onClose={() => setOpen(false)}
        title={t.liftTitle(sender)}
        submit={t.lift}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/message-trace/blocked-senders/{block_id}', {
            params: { block_id: id },
            idempotencyKey,
          })
          forget('blocked senders')
          toast(t.lifted(sender))
        }}
      >
        <p>{t.liftHint}</p>
      </Confirm>
    </>
  )
}
