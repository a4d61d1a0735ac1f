import { useState } from 'preact/hooks'
import type { WebhookEndpoint } from '../../api/schema.ts'
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

const OVERLAP_SECONDS = 24 * 60 * 60

async function setActive(id: string, name: string, active: boolean): Promise<void> {
  await api.put('/webhooks/endpoints/{endpoint_id}', {
    params: { endpoint_id: id },
    body: { active },
  })
  forget('webhook')
  toast(active ? t.resumedNow(name) : t.pausedNow(name), () => setActive(id, name, !active))
}

/** The actions on an endpoint, in the list and on its page. */
export function EndpointActions({ endpoint }: { endpoint: WebhookEndpoint }) {
  const may = useMay()
  const [open, setOpen] = useState<'rotate' | 'delete'>()
  const [secret, setSecret] = useState<string>()
  const { id, active } = endpoint
  const name = endpoint.name || endpoint.url
  const params = { endpoint_id: id }
  const close = () => setOpen(undefined)
  if (!may<'PUT /webhooks/endpoints/{endpoint_id}'>('write')) return null
  const test = async () => {
    await api.post('/webhooks/endpoints/{endpoint_id}/test', { params })
    forget('webhook')
    toast(t.tested)
  }
  return (
    <>
      <Menu name={common.actionsFor(name)}>
        <MenuItem onClick={test}>{t.test}</MenuItem>
        <MenuItem onClick={() => setOpen('rotate')}>{t.rotate}</MenuItem>
        <MenuItem onClick={() => setActive(id, name, !active)}>
          {active ? t.pause : t.resume}
        </MenuItem>
        <MenuItem danger onClick={() => setOpen('delete')}>
          {t.remove}
        </MenuItem>
      </Menu>
      <Confirm
        open={open === 'rotate'}
        onClose={close}
        title={t.rotateTitle(name)}
        submit={t.rotate}
        onConfirm={async (idempotencyKey) => {
          const rotated = await api.post('/webhooks/endpoints/{endpoint_id}/rotate-secret', {
            params,
            body: { overlap_seconds: OVERLAP_SECONDS },
            idempotencyKey,
          })
          setSecret(rotated.secret)
        }}
      >
        <p>{t.rotateHint}</p>
      </Confirm>
      <ConfirmByName
        open={open === 'delete'}
        onClose={close}
        title={t.removeTitle(name)}
        submit={t.remove}
        name={name}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/webhooks/endpoints/{endpoint_id}', { params, idempotencyKey })
          forget('webhooks')
          toast(t.removed(name))
          go('/app/webhooks')
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByName>
      <SecretDialog
        title={t.secretTitle(name)}
        secret={secret}
        fileName="webhook-secret.txt"
        onClose={() => setSecret(undefined)}
      >
        <p>{t.secretHint}</p>
      </SecretDialog>
    </>
  )
}
