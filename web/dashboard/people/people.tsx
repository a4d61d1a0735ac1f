import { useState } from 'preact/hooks'
import type { DashboardUser } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { PersonActions } from './person-actions.tsx'
import { Policy } from './policy.tsx'
import { t } from './words.ts'

export function People() {
  const may = useMay()
  const [inviting, setInviting] = useState(false)
  const me = useQuery('me', () => api.get('/auth/me'))
  const list = useList({
    name: 'people',
    sort: '',
    filters: ['role', 'status'],
    read: ({ q, page, per_page, filters }) =>
      api.get('/users/', {
        query: {
          q,
          page,
          per_page,
          ...(filters.role && { role: filters.role as DashboardUser['role'] }),
          ...(filters.status && { status: filters.status as DashboardUser['status'] }),
        },
      }),
  })
  const ownId = me.data?.user?.id
  const invite = <AddButton onClick={() => setInviting(true)}>{t.invite}</AddButton>
  return (
    <>
      <Heading title={t.title}>{may<'POST /users/'>('admin') && invite}</Heading>
      <Policy />
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.anyRole}
          value={list.asked.filters.role}
          options={Object.entries(t.roles)}
          change={(role) => list.set({ role })}
        />
        <Choice
          label={t.anyStatus}
          value={list.asked.filters.status}
          options={Object.entries(t.statuses)}
          change={(status) => list.set({ status })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.title}
        columns={columnsFor(ownId)}
        rowKey={({ id }) => id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
      <FormDialog
        title={t.inviteTitle}
        open={inviting}
        onClose={() => setInviting(false)}
        submit={t.invite}
        onSubmit={async (values, idempotencyKey) => {
          const email = values.text('email')
          const full_name = values.text('full_name')
          await api.post('/users/', {
            body: {
              email,
              role: values.text('role') as DashboardUser['role'],
              ...(full_name && { full_name }),
            },
            idempotencyKey,
          })
          forget('people')
          toast(t.invited(email))
        }}
      >
        <Field label={t.email} name="email" type="email" autocomplete="off" required />
        <Field label={t.name} name="full_name" autocomplete="off" />
        <Select
          label={t.role}
          name="role"
          value="read_only"
          options={Object.entries(t.roles)}
          hint={t.roleHint}
        />
      </FormDialog>
    </>
  )
}

const columnsFor = (ownId: string | undefined): Column<DashboardUser>[] => [
  {
    title: t.email,
    cell: ({ id, email, full_name }) => (
      <>
        <Text>{email}</Text> {id === ownId && <Badge tone="info">{t.you}</Badge>}
        <div class="muted">
          <Text>{full_name}</Text>
        </div>
      </>
    ),
  },
  { title: t.role, cell: ({ role }) => t.roles[role] },
  { title: t.status, cell: (user) => <Status user={user} /> },
  {
    title: t.twoFactor,
    minor: true,
    cell: ({ two_factor_enabled }) => (two_factor_enabled ? t.on : t.off),
  },
  {
    title: t.lastLogin,
    minor: true,
    cell: ({ last_login_at }) => <Time iso={last_login_at} />,
  },
  {
    title: common.actions,
    quiet: true,
    cell: (user) => <PersonActions user={user} isOwn={user.id === ownId} />,
  },
]

const TONES = { active: 'good', invited: 'warn', disabled: 'bad' } as const

function Status({ user: { status, open_link } }: { user: DashboardUser }) {
  const problem =
    open_link?.mail_status === 'failed'
      ? t.linkFailed
      : status === 'invited' && open_link?.expired
        ? t.linkExpired
        : undefined
  return (
    <>
      <Badge tone={TONES[status]}>{t.statuses[status]}</Badge>
      {problem && (
        <div class="wrong" title={open_link?.mail_error ?? undefined}>
          {problem}
        </div>
      )}
    </>
  )
}
