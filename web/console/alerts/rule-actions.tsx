import { useState } from 'preact/hooks'
import type { AlertRule } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useAction } from '../../lib/query.ts'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { RuleDialog } from './rule-dialog.tsx'
import { t } from './words.ts'

export function RuleActions({ rule }: { rule: AlertRule }) {
  const may = useMay()
  const [open, setOpen] = useState<'edit' | 'delete' | 'failed'>()
  const { id, name, enabled } = rule
  const params = { rule_id: id }
  const close = () => setOpen(undefined)
  const act = useAction(async (idempotencyKey, what: 'evaluate' | 'switch') => {
    if (what === 'switch') {
      await api.put('/platform/alerts/rules/{rule_id}', {
        params,
        body: { enabled: !enabled },
        idempotencyKey,
      })
      forget('alert-rules')
      toast(t.ruleChanged(name))
      return
    }
    const { value, would_fire, unit } = await api.post(
      '/platform/alerts/rules/{rule_id}/evaluate',
      { params, idempotencyKey },
    )
    if (value === null) toast(t.notKnown)
    else toast(`${would_fire ? t.wouldFire : t.wouldNotFire}: ${number(value)} ${unit}`)
  })
  const run = async (what: 'evaluate' | 'switch') => {
    if (!(await act.run(what))) setOpen('failed')
  }
  if (!may<'PUT /platform/alerts/rules/{rule_id}'>('operator')) return null
  return (
    <>
      <Menu name={common.actionsFor(name)}>
        <MenuItem onClick={() => void run('evaluate')}>{t.evaluate}</MenuItem>
        <MenuItem onClick={() => setOpen('edit')}>{t.editRule}</MenuItem>
        <MenuItem onClick={() => void run('switch')}>{enabled ? t.disable : t.enable}</MenuItem>
        <MenuItem danger onClick={() => setOpen('delete')}>
          {t.remove}
        </MenuItem>
      </Menu>
      {open === 'edit' && <RuleDialog rule={rule} open onClose={close} />}
      <ConfirmWithReason
        kind="alert-rule"
        open={open === 'delete'}
        onClose={close}
        title={t.removeTitle(name)}
        submit={t.remove}
        danger
        onConfirm={async (reason, idempotencyKey) => {
          await api.delete('/platform/alerts/rules/{rule_id}', {
            params,
            body: { reason },
            idempotencyKey,
          })
          forget('alert-rules')
          toast(t.removed(name))
        }}
      >
        <p>{t.removeRuleHint}</p>
      </ConfirmWithReason>
      <Dialog title={name} open={open === 'failed'} onClose={close}>
        <Failed error={act.error} />
      </Dialog>
    </>
  )
}
