import { useState } from 'preact/hooks'
import type { ApiKey } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { ConfirmByName } from '../../ui/confirm.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

const DEFAULT_OVERLAP = 24

export function KeyActions({ apiKey: { key_id, name, status } }: { apiKey: ApiKey }) {
  const may = useMay()
  const [open, setOpen] = useState<'rotate' | 'revoke'>()
  const [secret, setSecret] = useState<string>()
  const params = { key_id }
  const close = () => setOpen(undefined)
  if (status !== 'active' || !may<'POST /api-keys/{key_id}/revoke'>('admin')) return null
  return (
    <>
      <Menu name={common.actionsFor(name)}>
        <MenuItem onClick={() => setOpen('rotate')}>{t.rotate}</MenuItem>
        <MenuItem danger onClick={() => setOpen('revoke')}>
          {t.revoke}
        </MenuItem>
      </Menu>
      <FormDialog
        open={open === 'rotate'}
        onClose={close}
        title={t.rotateTitle(name)}
        submit={t.rotate}
        onSubmit={async (values, idempotencyKey) => {
          const rotated = await api.post('/api-keys/{key_id}/rotate', {
            params,
            body: { overlap_hours: values.number('overlap_hours') ?? 0 },
            idempotencyKey,
          })
          setSecret(rotated.api_key)
        }}
      >
        <p>{t.rotateHint}</p>
        <Field
          label={t.overlap}
          name="overlap_hours"
          type="number"
          min={0}
          value={DEFAULT_OVERLAP}
        />
      </FormDialog>
      <ConfirmByName
        name={name}
        open={open === 'revoke'}
        onClose={close}
        title={t.revokeTitle(name)}
        submit={t.revoke}
        onConfirm={async (idempotencyKey) => {
          await api.post('/api-keys/{key_id}/revoke', { params, idempotencyKey })
          forget('api-keys')
          toast(t.revoked(name))
        }}
      >
        <p>{t.revokeHint}</p>
      </ConfirmByName>
      <SecretDialog
        title={t.secretTitle(name)}
        secret={secret}
        fileName="api-key.txt"
        onClose={() => {
          setSecret(undefined)
          // Only now, because the row of the old key, with this dialog, may leave the list.
          forget('api-keys')
        }}
      />
    </>
  )
}
