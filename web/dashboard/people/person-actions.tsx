import { useState } from 'preact/hooks'
import type { DashboardUser } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { Confirm, ConfirmByName } from '../../ui/confirm.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { PersonSessions } from './sessions.tsx'
import { t } from './words.ts'

async function setActive({ id, email }: DashboardUser, is_active: boolean, key?: string) {
  await api.put('/users/{user_id}', {
    params: { user_id: id },
    body: { is_active },
    ...(key && { idempotencyKey: key }),
  })
  forget('people')
  toast(is_active ? t.enabledNow(email) : t.disabledNow(email))
}

async function run(act: () => Promise<unknown>, done: string): Promise<void> {
  await act()
  forget('people')
  toast(done)
}

/** The own role, status and second factor are changed on the page of the account. */
export function PersonActions({ user, isOwn }: { user: DashboardUser; isOwn: boolean }) {
  const may = useMay()
  const [open, setOpen] = useState<'edit' | 'sessions' | 'disable' | 'clear' | 'delete'>()
  const { id, email, status } = user
  const params = { user_id: id }
  const dialog = (name: typeof open) => ({
    open: open === name,
    onClose: () => setOpen(undefined),
  })
  if (isOwn || !may<'PUT /users/{user_id}'>('admin')) return null
  return (
    <>
      <Menu name={common.actionsFor(email)}>
        <MenuItem onClick={() => setOpen('edit')}>{t.edit}</MenuItem>
        {status === 'invited' && (
          <MenuItem
            onClick={() =>
              run(() => api.post('/users/{user_id}/invite', { params }), t.invited(email))
            }
          >
            {t.again}
          </MenuItem>
        )}
        {status === 'active' && (
          <>
            <MenuItem onClick={() => setOpen('sessions')}>{t.sessions}</MenuItem>
            <MenuItem
              onClick={() =>
                run(
                  () => api.post('/users/{user_id}/password-reset', { params }),
                  t.resetDone(email),
                )
              }
            >
              {t.reset}
            </MenuItem>
            <MenuItem
              onClick={() =>
                run(
                  () => api.post('/users/{user_id}/sessions/revoke', { params }),
                  t.signedOut(email),
                )
              }
            >
              {t.signOut}
            </MenuItem>
          </>
        )}
        {user.two_factor_enabled && <MenuItem onClick={() => setOpen('clear')}>{t.clear}</MenuItem>}
        {status === 'disabled' ? (
          <MenuItem onClick={() => setActive(user, true)}>{t.enable}</MenuItem>
        ) : (
          <MenuItem onClick={() => setOpen('disable')}>{t.disable}</MenuItem>
        )}
        <MenuItem danger onClick={() => setOpen('delete')}>
          {t.remove}
        </MenuItem>
      </Menu>
      <Edit user={user} {...dialog('edit')} />
      <PersonSessions user={user} {...dialog('sessions')} />
      <Confirm
        {...dialog('disable')}
        title={t.disableTitle(email)}
        submit={t.disable}
        onConfirm={(key) => setActive(user, false, key)}
      >
        <p>{t.disableHint}</p>
      </Confirm>
      <ConfirmByName
        name={email}
        {...dialog('clear')}
        title={t.clearTitle(email)}
        submit={t.clear}
        onConfirm={async (idempotencyKey) => {
          await api.post('/users/{user_id}/two-factor-reset', { params, idempotencyKey })
          forget('people')
          toast(t.cleared(email))
        }}
      >
        <p>{t.clearHint}</p>
      </ConfirmByName>
      <ConfirmByName
        {...dialog('delete')}
        title={t.removeTitle(email)}
        submit={t.remove}
        name={email}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/users/{user_id}', { params, idempotencyKey })
          forget('people')
          toast(t.removed(email))
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByName>
    </>
  )
}

const Edit = ({ user, ...dialog }: { user: DashboardUser; open: boolean; onClose(): void }) => (
  <FormDialog
    {...dialog}
    title={t.editTitle(user.email)}
    submit={common.save}
    onSubmit={async (values, idempotencyKey) => {
      await api.put('/users/{user_id}', {
        params: { user_id: user.id },
        body: {
          full_name: values.optional('full_name'),
          role: values.text('role') as DashboardUser['role'],
        },
        idempotencyKey,
      })
      forget('people')
      toast(t.saved(user.email))
    }}
  >
    <Field label={t.name} name="full_name" value={user.full_name ?? ''} autocomplete="off" />
    <Select
      label={t.role}
      name="role"
      value={user.role}
      options={Object.entries(t.roles)}
      hint={t.roleHint}
    />
  </FormDialog>
)
