import { useState } from 'preact/hooks'
import type { Suppression } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Time } from '../../ui/page.tsx'
import { columns as common, Lift, queryOf, TypeBadge, TypeFilter } from '../../ui/suppressions.tsx'
import { t as shared } from '../../ui/suppressions.words.ts'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as words } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

async function suppress(email: string, reason: string | null, idempotencyKey?: string) {
  await api.post('/tracking/suppress', {
    body: { email, reason },
    ...(idempotencyKey && { idempotencyKey }),
  })
  forget('suppressions')
}

async function lift({ email, reason }: Suppression, idempotencyKey: string) {
  await api.delete('/tracking/suppress/{email}', { params: { email }, idempotencyKey })
  forget('suppressions')
  toast(shared.lifted(email), () => suppress(email, reason))
}

const columns: Column<Suppression>[] = [
  common.email,
  {
    title: shared.type,
    cell: ({ active, suppression_type }) =>
      active ? <TypeBadge type={suppression_type} /> : <Badge>{t.lifted}</Badge>,
  },
  common.note,
  common.since,
  {
    title: t.until,
    minor: true,
    cell: ({ expires_at }) =>
      expires_at ? <Time iso={expires_at} form="date" /> : <span class="muted">{t.forever}</span>,
  },
  {
    title: words.actions,
    quiet: true,
    cell: (one) => one.active && <Lift email={one.email} onConfirm={(key) => lift(one, key)} />,
  },
]

export function Suppressions() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'suppressions',
    sort: 'created_at',
    dir: 'desc',
    filters: ['type', 'active'],
    read: (asked) =>
      api.get('/suppressions/', {
        query: { ...queryOf(asked), active: asked.filters.active !== 'false' },
      }),
  })
  const add = (text: string) =>
    may<'POST /tracking/suppress'>('write') && (
      <AddButton onClick={() => setAdding(true)}>{text}</AddButton>
    )
  return (
    <>
      <Heading title={t.title}>{add(t.add)}</Heading>
      <p class="muted gap">{t.hint}</p>
      <SearchBar list={list} label={shared.search}>
        <TypeFilter value={list.asked.filters.type} change={(type) => list.set({ type })} />
        <Choice
          label={t.state}
          value={list.asked.filters.active}
          options={[['false', t.states]]}
          change={(active) => list.set({ active })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title={shared.none} action={add(t.addFirst)}>
            {shared.noneHint}
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
          await suppress(email, values.optional('reason'), idempotencyKey)
          toast(t.added(email))
        }}
      >
        <Field label={shared.email} name="email" type="email" autocomplete="off" required />
        <Field label={shared.note} name="reason" hint={t.reasonHint} autocomplete="off" />
      </FormDialog>
    </>
  )
}
