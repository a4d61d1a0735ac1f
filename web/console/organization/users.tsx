import { useState } from 'preact/hooks'
import type { DashboardUser } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { Confirm, ConfirmByName } from '../../ui/confirm.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Badge, Empty, Text, Time } from '../../ui/page.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { Frame } from './frame.tsx'
import { t } from './words.ts'

export const OrganizationUsers = () => <Frame part={t.users}>{({ id }) => <Users of={id} />}</Frame>

const TONES = { active: 'good', invited: 'info', disabled: 'bad' } as const

const columns: Column<DashboardUser>[] = [
  { title: t.email, cell: ({ email }) => <Text>{email}</Text> },
  { title: t.name, minor: true, cell: ({ full_name }) => <Text>{full_name}</Text> },
  { title: t.role, cell: ({ role }) => t.roles[role] },
  {
    title: t.status,
    cell: ({ status }) => <Badge tone={TONES[status]}>{t.userStatus[status]}</Badge>,
  },
  { title: t.lastSignIn, minor: true, cell: ({ last_login_at }) => <Time iso={last_login_at} /> },
  { title: common.actions, quiet: true, cell: (user) => <Act user={user} /> },
]

function Users({ of }: { of: string }) {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const [link, setLink] = useState<string>()
  const list = useList({
    name: `users ${of}`,
    sort: '',
    filters: ['role'],
    read: ({ q, page, per_page, filters }) =>
      api.get('/users/', {
        query: {
          q,
          page,
          per_page,
          organization_id: of,
          ...(filters.role && { role: filters.role as 'owner' }),
        },
      }),
  })
  const add = may<'POST /users/'>('admin') && (
    <button type="button" class="primary" onClick={() => setAdding(true)}>
      {t.addUser}
    </button>
  )
  return (
    <>
      <SearchBar list={list} label={t.searchUsers}>
        <Choice
          label={t.anyRole}
          value={list.asked.filters.role}
          options={Object.entries(t.roles)}
          change={(role) => list.set({ role })}
        />
        {add}
      </SearchBar>
      <ListTable
        list={list}
        caption={t.users}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.noUsers}>{t.noUsersHint}</Empty>}
      />
      <FormDialog
        title={t.addUser}
        open={adding}
        onClose={() => setAdding(false)}
        submit={t.addUser}
        onSubmit={async (values, idempotencyKey) => {
          const email = values.text('email')
          const full_name = values.text('full_name')
          const user = await api.post('/users/', {
            body: {
              email,
              ...(full_name && { full_name }),
              role: values.text('role') as 'owner',
              organization_id: of,
            },
            idempotencyKey,
          })
          forget('users')
          toast(t.invited(email))
          setLink(user.link)
        }}
      >
        <Field label={t.email} name="email" type="email" required autocomplete="off" />
        <Field label={t.name} name="full_name" autocomplete="off" />
        <Select label={t.role} name="role" value="admin" options={Object.entries(t.roles)} />
      </FormDialog>
      <InvitationLink link={link} onClose={() => setLink(undefined)} />
    </>
  )
}

const InvitationLink = ({ link, onClose }: { link: string | undefined; onClose(): void }) => (
  <SecretDialog title={t.link} secret={link} fileName="invitation.txt" onClose={onClose}>
    <p class="hint">{t.linkHint}</p>
  </SecretDialog>
)

type Open = 'active' | 'delete'

function Act({ user }: { user: DashboardUser }) {
  const may = useMay()
  const [open, setOpen] = useState<Open>()
  const [link, setLink] = useState<string>()
  const dialog = (name: Open) => ({ open: open === name, onClose: () => setOpen(undefined) })
  const params = { user_id: user.id }
  const { email } = user
  if (!may<'PUT /users/{user_id}'>('admin')) return null
  const turn = user.is_active ? t.disable : t.enable
  const invite = async () => {
    const { link } = await api.post('/users/{user_id}/invite', { params })
    forget('users')
    toast(t.invited(email))
    setLink(link)
  }
  return (
    <>
      <Menu name={common.actionsFor(email)}>
        {user.status === 'invited' && <MenuItem onClick={invite}>{t.invite}</MenuItem>}
        <MenuItem onClick={() => setOpen('active')}>{turn}</MenuItem>
        <MenuItem danger onClick={() => setOpen('delete')}>
          {t.remove}
        </MenuItem>
      </Menu>
      <Confirm
        {...dialog('active')}
        title={`${turn}: ${email}`}
        submit={turn}
        danger={user.is_active}
        onConfirm={async (idempotencyKey) => {
          await api.put('/users/{user_id}', {
            params,
            body: { is_active: !user.is_active },
            idempotencyKey,
          })
          forget('users')
          toast(t.changed(email))
        }}
      >
        <p>
          <Text>{email}</Text>
        </p>
      </Confirm>
      <ConfirmByName
        {...dialog('delete')}
        title={t.removeTitle(email)}
        submit={t.remove}
        name={email}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/users/{user_id}', { params, idempotencyKey })
          forget('users')
          toast(t.removed(email))
        }}
      >
        <p>{t.removeUserHint}</p>
      </ConfirmByName>
      <InvitationLink link={link} onClose={() => setLink(undefined)} />
    </>
  )
}
