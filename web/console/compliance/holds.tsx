import { useState } from 'preact/hooks'
import type { LegalHold } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { AddButton, RowButton } from '../../ui/buttons.tsx'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { linesOf, OrganizationField, ReasonField } from '../fields.tsx'
import { t as titles } from '../titles.words.ts'
import { ComplianceTabs } from './tabs.tsx'
import { t } from './words.ts'

const columns: Column<LegalHold>[] = [
  { title: t.name, cell: ({ name }) => <Text>{name}</Text> },
  {
    title: t.state,
    cell: ({ active }) => (
      <Badge tone={active ? 'warn' : ''}>{active ? t.active : t.released}</Badge>
    ),
  },
  {
    title: t.organization,
    minor: true,
    cell: ({ organization_id }) => (
      <a href={`/console/organizations/${encodeURIComponent(organization_id)}`}>
        <Text>{organization_id}</Text>
      </a>
    ),
  },
  {
    title: t.custodians,
    minor: true,
    cell: ({ custodians }) => <Text>{custodians.join(', ') || t.everybody}</Text>,
  },
  {
    title: t.enforced,
    minor: true,
    cell: ({ enforced_at }) => (enforced_at ? <Time iso={enforced_at} /> : t.notYet),
  },
  {
    title: t.ends,
    cell: ({ end_date }) => (end_date ? <Time iso={end_date} form="date" /> : t.noEnd),
  },
  { title: common.actions, quiet: true, cell: (hold) => <Release hold={hold} /> },
]

function Release({ hold: { id, name, active } }: { hold: LegalHold }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  if (!active || !may<'POST /compliance/legal-holds/{hold_id}/release'>('owner')) return null
  return (
    <>
      <RowButton name={name} onClick={() => setOpen(true)}>
        {t.release}
      </RowButton>
      <ConfirmWithReason
        kind="hold"
        danger
        open={open}
        onClose={() => setOpen(false)}
        title={t.releaseTitle(name)}
        submit={t.release}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/compliance/legal-holds/{hold_id}/release', {
            params: { hold_id: id },
            body: { reason },
            idempotencyKey,
          })
          forget('compliance')
          toast(t.holdReleased(name))
        }}
      >
        <p>{t.releaseHint}</p>
      </ConfirmWithReason>
    </>
  )
}

export function Holds() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'compliance holds',
    sort: '',
    filters: ['active'],
    read: ({ q, page, per_page, filters }) =>
      api.get('/compliance/legal-holds', {
        query: {
          q,
          page,
          per_page,
          ...(filters.active && { active: filters.active === 'true' }),
        },
      }),
  })
  const add = may<'POST /compliance/legal-holds'>('owner') && (
    <AddButton onClick={() => setAdding(true)}>{t.addHold}</AddButton>
  )
  return (
    <>
      <Heading title={titles.holds}>{add}</Heading>
      <ComplianceTabs />
      <SearchBar list={list} label={t.searchHolds}>
        <Choice
          label={t.anyState}
          value={list.asked.filters.active}
          options={[
            ['true', t.active],
            ['false', t.released],
          ]}
          change={(active) => list.set({ active })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={titles.holds}
        columns={columns}
        rowKey={({ id }) => String(id)}
        empty={
          <Empty title={t.noHolds} action={add}>
            {t.noHoldsHint}
          </Empty>
        }
      />
      <FormDialog
        title={t.addHold}
        open={adding}
        onClose={() => setAdding(false)}
        submit={t.addHold}
        onSubmit={async (values, idempotencyKey) => {
          const name = values.text('name')
          await api.post('/compliance/legal-holds', {
            body: {
              organization_id: values.text('organization_id'),
              name,
              description: values.optional('description'),
              custodians: linesOf(values.text('custodians')),
              end_date: values.optional('end_date'),
              reason: values.text('reason'),
            },
            idempotencyKey,
          })
          forget('compliance')
          toast(t.holdAdded(name))
        }}
      >
        <OrganizationField />
        <Field label={t.name} name="name" required autocomplete="off" />
        <Field label={t.description} name="description" autocomplete="off" />
        <TextArea label={t.custodians} name="custodians" hint={t.custodiansHint} rows={3} />
        <Field label={t.ends} name="end_date" type="date" />
        <ReasonField />
      </FormDialog>
    </>
  )
}
