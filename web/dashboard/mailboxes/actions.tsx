import { useState } from 'preact/hooks'
import type { EmailAccount } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { go } from '../../lib/router.tsx'
import { Confirm, ConfirmByName } from '../../ui/confirm.tsx'
import { CheckBox, Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

type Account = Pick<EmailAccount, 'id' | 'email' | 'status'>
type Open = 'suspend' | 'reset' | 'two-factor' | 'delete'

async function setStatus({ id, email }: Account, status: 'active' | 'suspended') {
  await api.put('/mailboxes/email-accounts/{account_id}', {
    params: { account_id: id },
    body: { status },
  })
  forget('mailbox')
  toast(status === 'active' ? t.activatedNow(email) : t.suspendedNow(email), () =>
    setStatus({ id, email, status }, status === 'active' ? 'suspended' : 'active'),
  )
}

/** The actions on a mailbox, in the list and on its page. */
export function MailboxActions({ account }: { account: Account }) {
  const may = useMay()
  const [open, setOpen] = useState<Open>()
  const dialog = (name: Open) => ({ open: open === name, onClose: () => setOpen(undefined) })
  const params = { account_id: account.id }
  const { email } = account
  if (!may<'PUT /mailboxes/email-accounts/{account_id}'>('write')) return null
  return (
    <>
      <Menu name={common.actionsFor(email)}>
        <MenuItem onClick={() => setOpen('reset')}>{t.reset}</MenuItem>
        <MenuItem onClick={() => setOpen('two-factor')}>{t.clearTwoFactor}</MenuItem>
        {account.status === 'active' ? (
          <MenuItem onClick={() => setOpen('suspend')}>{t.suspend}</MenuItem>
        ) : (
          <MenuItem onClick={() => setStatus(account, 'active')}>{t.activate}</MenuItem>
        )}
        <MenuItem danger onClick={() => setOpen('delete')}>
          {t.remove}
        </MenuItem>
      </Menu>
      <Confirm
        {...dialog('suspend')}
        title={t.suspendTitle(email)}
        submit={t.suspend}
        onConfirm={() => setStatus(account, 'suspended')}
      >
        <p>{t.suspendHint}</p>
      </Confirm>
      <FormDialog
        {...dialog('reset')}
        title={t.resetTitle(email)}
        submit={t.reset}
        onSubmit={async (values, idempotencyKey) => {
          await api.post('/mailboxes/email-accounts/{account_id}/reset-password', {
            params,
            body: {
              new_password: values.secret('new_password'),
              temporary: values.checked('temporary'),
            },
            idempotencyKey,
          })
          forget('mailbox')
          toast(t.resetDone(email))
        }}
      >
        <Field
          label={t.password}
          name="new_password"
          type="password"
          required
          hint={t.passwordRule}
          autocomplete="new-password"
        />
        <CheckBox label={t.temporary} name="temporary" checked />
      </FormDialog>
      <ConfirmByName
        name={email}
        {...dialog('two-factor')}
        title={t.clearTwoFactor}
        submit={t.clearTwoFactor}
        onConfirm={async (idempotencyKey) => {
          await api.post('/mailboxes/email-accounts/{account_id}/two-factor-reset', {
            params,
            idempotencyKey,
          })
          forget('mailbox')
          toast(t.twoFactorCleared(email))
        }}
      >
        <p>{t.clearTwoFactorHint}</p>
      </ConfirmByName>
      <ConfirmByName
        {...dialog('delete')}
        title={t.removeTitle(email)}
        submit={t.remove}
        name={email}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/mailboxes/email-accounts/{account_id}', { params, idempotencyKey })
          forget('mailboxes')
          toast(t.removed(email))
          go('/app/mailboxes')
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByName>
    </>
  )
}
