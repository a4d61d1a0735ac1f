import { useState } from 'preact/hooks'
import type { Operator } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { OperatorActions, ROLE_OPTIONS } from './operator-actions.tsx'
import { t } from './words.ts'

const MIN_PASSWORD = 12

export const Status = ({ is_active }: Pick<Operator, 'is_active'>) => (
  <Badge tone={is_active ? 'good' : 'bad'}>{is_active ? t.active : t.inactive}</Badge>
)

const columns: Column<Operator>[] = [
  {
    title: t.name,
    cell: ({ id, full_name, email }) => (
      <>
        <a href={`/console/operators/${id}`}>
          <Text>{full_name}</Text>
        </a>
        <small class="under">
          <Text>{email}</Text>
        </small>
      </>
    ),
  },
  { title: t.role, cell: ({ role }) => t.roles[role] },
  { title: t.status, minor: true, cell: (one) => <Status {...one} /> },
  {
    title: t.mfa,
    minor: true,
    cell: ({ mfa_enrolled }) => (
      <Badge tone={mfa_enrolled ? 'good' : 'warn'}>
        {mfa_enrolled ? t.enrolled : t.notEnrolled}
      </Badge>
    ),
  },
  {
    title: t.sessions,
    number: true,
    minor: true,
    cell: ({ active_session_count }) => number(active_session_count),
  },
  { title: t.lastLogin, minor: true, cell: ({ last_login_at }) => <Time iso={last_login_at} /> },
  { title: common.actions, quiet: true, cell: (one) => <OperatorActions operator={one} /> },
]

export function Operators() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList<Operator, 'role' | 'is_active'>({
    name: 'operators',
    sort: '',
    filters: ['role', 'is_active'],
    read: ({ q, page, per_page, filters }) =>
      api.get('/platform/operators', {
        query: {
          q,
          page,
          per_page,
          role: filters.role as Operator['role'] | undefined,
          ...(filters.is_active && { is_active: filters.is_active === 'true' }),
        },
      }),
  })
  const add = may<'POST /platform/operators'>('owner') && (
    <AddButton onClick={() => setAdding(true)}>{t.add}</AddButton>
  )
  return (
    <>
      <Heading title={t.title}>{add}</Heading>
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.anyRole}
          value={list.asked.filters.role}
          options={Object.entries(t.roles)}
          change={(role) => list.set({ role })}
        />
        <Choice
          label={t.anyStatus}
          value={list.asked.filters.is_active}
          options={[
            ['true', t.active],
            ['false', t.inactive],
          ]}
          change={(is_active) => list.set({ is_active })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title={t.none} action={add}>
            {t.noneHint}
          </Empty>
        }
      />
      <AddOperator open={adding} onClose={() => setAdding(false)} />
    </>
  )
}

const AddOperator = (dialog: { open: boolean; onClose(): void }) => (
  <FormDialog
    {...dialog}
    title={t.add}
    submit={t.add}
    onSubmit={async (values, idempotencyKey) => {
      const full_name = values.text('full_name')
      await api.post('/platform/operators', {
        body: {
          email: values.text('email'),
          full_name,
          password: values.secret('password'),
          role: values.text('role') as Operator['role'],
        },
        idempotencyKey,
      })
      forget('operators')
      toast(t.added(full_name))
    }}
  >
    <Field label={t.name} name="full_name" required autocomplete="off" />
    <Field label={t.email} name="email" type="email" required autocomplete="off" />
    <Field
      label={t.password}
      name="password"
      type="password"
      required
      minLength={MIN_PASSWORD}
      hint={t.passwordHint}
      autocomplete="new-password"
    />
    <Select label={t.role} name="role" options={ROLE_OPTIONS} value="support" />
  </FormDialog>
)
