import { useState } from 'preact/hooks'
import type { MailHost } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { Confirm, ConfirmByName } from '../../ui/confirm.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { HostDialog } from './host-dialog.tsx'
import { t } from './words.ts'

type Action = 'drain' | 'away' | 'activate'

/** Calls the API; returns what happened, for the person. */
async function act(action: Action, { id, name }: MailHost, idempotencyKey: string) {
  const call = { params: { host_id: id }, idempotencyKey }
  if (action === 'drain') {
    const { moves } = await api.post('/platform/mail-hosts/{host_id}/drain', call)
    return t.draining(moves)
  }
  const state = action === 'away' ? 'away' : 'active'
  await api.put('/platform/mail-hosts/{host_id}', { ...call, body: { state } })
  return t.changed(name)
}

export function HostActions({ host }: { host: MailHost }) {
  const may = useMay()
  const [open, setOpen] = useState<Action | 'edit' | 'remove'>()
  const { id, name, roles, state } = host
  if (!may<'PUT /platform/mail-hosts/{host_id}'>('admin')) return null
  const actions: Action[] = [
    ...(roles.includes('backend') && state === 'active' ? (['drain'] as const) : []),
    ...(state === 'active' ? [] : (['activate'] as const)),
    ...(state === 'away' ? [] : (['away'] as const)),
  ]
  const dialog = (which: typeof open) => ({
    open: open === which,
    onClose: () => setOpen(undefined),
  })
  return (
    <>
      <Menu name={common.actionsFor(name)}>
        <MenuItem onClick={() => setOpen('edit')}>{t.edit}</MenuItem>
        {actions.map((action) => (
          <MenuItem key={action} onClick={() => setOpen(action)}>
            {t[action]}
          </MenuItem>
        ))}
        <MenuItem danger onClick={() => setOpen('remove')}>
          {t.remove}
        </MenuItem>
      </Menu>
      {open === 'edit' && <HostDialog {...dialog('edit')} host={host} />}
      {actions.map((action) => (
        <Confirm
          {...dialog(action)}
          key={action}
          title={t[`${action}Title`](name)}
          submit={t[action]}
          onConfirm={async (idempotencyKey) => {
            toast(await act(action, host, idempotencyKey))
            forget('mail-hosts')
          }}
        >
          <p>{t[`${action}Hint`]}</p>
        </Confirm>
      ))}
      <ConfirmByName
        {...dialog('remove')}
        name={name}
        title={t.removeTitle(name)}
        submit={t.remove}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/platform/mail-hosts/{host_id}', {
            params: { host_id: id },
            idempotencyKey,
          })
          toast(t.removed(name))
          forget('mail-hosts')
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByName>
    </>
  )
}
