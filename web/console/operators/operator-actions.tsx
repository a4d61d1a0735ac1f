import { useState } from 'preact/hooks'
import type { Operator } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { Confirm, ConfirmByNameWithReason, ConfirmWithReason } from '../../ui/confirm.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

export const ROLE_OPTIONS = Object.entries(t.roleHints)

async function setActive({ id, full_name }: Operator, is_active: boolean, idempotencyKey?: string) {
  await api.put('/platform/operators/{operator_id}', {
    params: { operator_id: id },
    body: { is_active },
    ...(idempotencyKey && { idempotencyKey }),
  })
  forget('operator')
  if (is_active) toast(t.activated(full_name))
}

/** The actions on an operator, in the list and on its page. */
export function OperatorActions({ operator }: { operator: Operator }) {
  const may = useMay()
  const [open, setOpen] = useState<'edit' | 'deactivate' | 'mfa' | 'password' | 'revoke'>()
  const [link, setLink] = useState<string>()
  const { id, full_name: name, is_active } = operator
  const params = { operator_id: id }
  const dialog = (which: typeof open) => ({
    open: open === which,
    onClose: () => setOpen(undefined),
  })
  if (!may<'PUT /platform/operators/{operator_id}'>('owner')) return null
  return (
    <>
      <Menu name={common.actionsFor(name)}>
        <MenuItem onClick={() => setOpen('edit')}>{t.edit}</MenuItem>
        <MenuItem onClick={() => setOpen('password')}>{t.resetPassword}</MenuItem>
        <MenuItem onClick={() => setOpen('mfa')}>{t.resetMfa}</MenuItem>
        <MenuItem onClick={() => setOpen('revoke')}>{t.revoke}</MenuItem>
        {is_active ? (
          <MenuItem danger onClick={() => setOpen('deactivate')}>
            {t.deactivate}
          </MenuItem>
        ) : (
          <MenuItem onClick={() => setActive(operator, true)}>{t.activate}</MenuItem>
        )}
      </Menu>
      <EditOperator {...dialog('edit')} operator={operator} />
      <Confirm
        {...dialog('deactivate')}
        title={t.deactivateTitle(name)}
        submit={t.deactivate}
        danger
        onConfirm={async (idempotencyKey) => {
          await setActive(operator, false, idempotencyKey)
          toast(t.deactivated(name), () => setActive(operator, true))
        }}
      >
        <p>{t.deactivateHint}</p>
      </Confirm>
      <ConfirmByNameWithReason
        name={name}
        {...dialog('mfa')}
        kind="operator-mfa"
        title={t.resetMfaTitle(name)}
        submit={t.resetMfa}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/platform/operators/{operator_id}/mfa-reset', {
            params,
            body: { reason },
            idempotencyKey,
          })
          forget('operator')
          toast(t.mfaReset(name))
        }}
      >
        <p>{t.resetMfaHint}</p>
      </ConfirmByNameWithReason>
      <ConfirmWithReason
        {...dialog('password')}
        kind="operator-password"
        title={t.resetPasswordTitle(name)}
        submit={t.resetPassword}
        onConfirm={async (reason, idempotencyKey) => {
          const made = await api.post('/platform/operators/{operator_id}/password-reset', {
            params,
            body: { reason },
            idempotencyKey,
          })
          setLink(made.link)
        }}
      >
        <p>{t.resetPasswordHint}</p>
      </ConfirmWithReason>
      <ConfirmWithReason
        {...dialog('revoke')}
        kind="operator-sessions"
        title={t.revokeTitle(name)}
        submit={t.revoke}
        danger
        onConfirm={async (reason, idempotencyKey) => {
          const { revoked } = await api.post('/platform/operators/{operator_id}/sessions/revoke', {
            params,
            body: { reason },
            idempotencyKey,
          })
          forget('operator')
          forget('sessions')
          toast(t.revoked(revoked))
        }}
      >
        <p>{t.revokeHint}</p>
      </ConfirmWithReason>
      <SecretDialog
        title={t.link(name)}
        secret={link}
        fileName="password-link.txt"
        onClose={() => setLink(undefined)}
      />
    </>
  )
}

const EditOperator = ({
  operator,
  ...dialog
}: {
  operator: Operator
  open: boolean
  onClose(): void
}) => (
  <FormDialog
    {...dialog}
    title={t.editTitle(operator.full_name)}
    submit={common.save}
    onSubmit={async (values, idempotencyKey) => {
      const full_name = values.text('full_name')
      await api.put('/platform/operators/{operator_id}', {
        params: { operator_id: operator.id },
        body: { full_name, role: values.text('role') as Operator['role'] },
        idempotencyKey,
      })
      forget('operator')
      toast(t.changed(full_name))
    }}
  >
    <Field label={t.name} name="full_name" required autocomplete="off" value={operator.full_name} />
    <Select label={t.role} name="role" options={ROLE_OPTIONS} value={operator.role} />
  </FormDialog>
)
