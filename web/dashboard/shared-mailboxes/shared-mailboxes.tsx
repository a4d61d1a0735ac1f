import { useState } from 'preact/hooks'
import type { SharedMailboxListItem } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { go } from '../../lib/router.tsx'
import { AddButton } from '../../ui/buttons.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

const columns: Column<SharedMailboxListItem>[] = [
  {
    title: t.address,
    cell: ({ id, email }) => (
      <a href={`/app/shared-mailboxes/${id}`}>
        <Text>{email}</Text>
      </a>
    ),
  },
  { title: t.name, minor: true, cell: ({ name }) => <Text>{name}</Text> },
  { title: t.members, number: true, cell: ({ member_count }) => number(member_count) },
  {
    title: t.created,
    minor: true,
    cell: ({ created_at }) => <Time iso={created_at} form="date" />,
  },
]

export function SharedMailboxes() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'shared-mailboxes',
    sort: '',
    read: ({ q, page, per_page }) =>
      api.list('/shared-mailboxes', { query: { q, page, per_page } }),
  })
  const add = (words: string) =>
    may<'POST /shared-mailboxes'>('write') && (
      <AddButton onClick={() => setAdding(true)}>{words}</AddButton>
    )
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
          const email = values.text('email')
          const { id } = await api.post('/shared-mailboxes', {
            body: { email, name: values.text('name') },
            idempotencyKey,
          })
          forget('shared-mailboxes')
          toast(t.added(email))
          go(`/app/shared-mailboxes/${id}`)
        }}
      >
        <Field
          label={t.address}
          name="email"
          type="email"
          required
          hint={t.addressHint}
          autocomplete="off"
        />
        <Field label={t.name} name="name" required autocomplete="off" />
      </FormDialog>
    </>
  )
}
