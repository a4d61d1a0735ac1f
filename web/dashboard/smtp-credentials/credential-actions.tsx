import { useState } from 'preact/hooks'
import type { SmtpCredential } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { go } from '../../lib/router.tsx'
import { Confirm, ConfirmByName } from '../../ui/confirm.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

type Credential = Pick<SmtpCredential, 'id' | 'username' | 'active'>

async function enable({ id, username }: Credential): Promise<void> {
  await api.post('/smtp-credentials/{credential_id}/enable', { params: { credential_id: id } })
  forget('smtp-credential')
  toast(t.enabledNow(username))
}

/** The actions on a credential, in the list and on its page. */
export function CredentialActions({ credential }: { credential: Credential }) {
  const may = useMay()
  const [open, setOpen] = useState<'rotate' | 'revoke' | 'delete'>()
  const [secret, setSecret] = useState<string>()
  const { id, username, active } = credential
  const params = { credential_id: id }
  const dialog = (name: typeof open) => ({
    open: open === name,
    onClose: () => setOpen(undefined),
  })
  if (!may<'POST /smtp-credentials/{credential_id}/rotate'>('write')) return null
  return (
    <>
      <Menu name={common.actionsFor(username)}>
        <MenuItem onClick={() => setOpen('rotate')}>{t.rotate}</MenuItem>
        {active ? (
          <MenuItem onClick={() => setOpen('revoke')}>{t.revoke}</MenuItem>
        ) : (
          <MenuItem onClick={() => enable(credential)}>{t.enable}</MenuItem>
        )}
        <MenuItem danger onClick={() => setOpen('delete')}>
          {t.remove}
        </MenuItem>
      </Menu>
      <Confirm
        {...dialog('rotate')}
        title={t.rotateTitle(username)}
        submit={t.rotate}
        onConfirm={async (idempotencyKey) => {
          const rotated = await api.post('/smtp-credentials/{credential_id}/rotate', {
            params,
            idempotencyKey,
          })
          forget('smtp-credential')
          setSecret(rotated.secret)
        }}
      >
        <p>{t.rotateHint}</p>
      </Confirm>
      <Confirm
        {...dialog('revoke')}
        title={t.revokeTitle(username)}
        submit={t.revoke}
        onConfirm={async (idempotencyKey) => {
          await api.post('/smtp-credentials/{credential_id}/revoke', { params, idempotencyKey })
          forget('smtp-credential')
          toast(t.revokedNow(username), () => enable(credential))
        }}
      >
        <p>{t.revokeHint}</p>
      </Confirm>
      <ConfirmByName
        {...dialog('delete')}
        title={t.removeTitle(username)}
        submit={t.remove}
        name={username}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/smtp-credentials/{credential_id}', { params, idempotencyKey })
          forget('smtp-credentials')
          toast(t.removed(username))
          go('/app/smtp-credentials')
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByName>
      <SecretDialog
        title={t.secretTitle(username)}
        secret={secret}
        fileName="smtp-password.txt"
        onClose={() => setSecret(undefined)}
      />
    </>
  )
}
