import { useState } from 'preact/hooks'
import type { RagConfiguration } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useAction } from '../../lib/query.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { bodyOf } from './settings.tsx'
import { t } from './words.ts'

interface Props {
  domain: string
  config: RagConfiguration
  isIndexed: boolean
}

export function DomainActions({ domain, config, isIndexed }: Props) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  const trigger = useAction(async (idempotencyKey, isFull: boolean) => {
    await api.post('/rag/rag/index/trigger', {
      body: { domain, full_reindex: isFull },
      idempotencyKey,
    })
    forget('rag')
    toast(t.accepted(domain))
  })
  if (!may<'POST /rag/rag/index/trigger'>('write')) return null
  const verb = isIndexed ? t.forbid : t.allow
  return (
    <>
      <Menu name={common.actionsFor(domain)}>
        {isIndexed && <MenuItem onClick={() => void trigger.run(false)}>{t.update}</MenuItem>}
        {isIndexed && <MenuItem onClick={() => void trigger.run(true)}>{t.again}</MenuItem>}
        <MenuItem onClick={() => setOpen(true)}>{verb}</MenuItem>
      </Menu>
      <Failed error={trigger.error} />
      <Confirm
        title={isIndexed ? t.forbidTitle(domain) : t.allowTitle(domain)}
        open={open}
        onClose={() => setOpen(false)}
        submit={verb}
        onConfirm={async (idempotencyKey) => {
          await api.post('/rag/rag/config/domain/{domain}', {
            params: { domain },
            body: { ...bodyOf(config), index_mail: !isIndexed },
            idempotencyKey,
          })
          forget('rag')
          toast(isIndexed ? t.forbidden(domain) : t.allowed(domain))
        }}
      >
        <p>{isIndexed ? t.forbidHint : t.allowHint}</p>
      </Confirm>
    </>
  )
}
