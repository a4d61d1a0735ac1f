import { useState } from 'preact/hooks'
import type { AlertRule } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { ConfirmByNameWithReason } from '../../ui/confirm.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { RuleDialog } from './rule-dialog.tsx'
import { t } from './words.ts'

export function RuleActions({ rule }: { rule: AlertRule }) {
  const may = useMay()
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const { id, name, enabled } = rule
  const params = { rule_id: id }
  const close = () => setOpen(undefined)
  const run = async (what: 'evaluate' | 'switch') => {
    if (what === 'switch') {
      await api.put('/platform/alerts/rules/{rule_id}', {
        params,
        body: { enabled: !enabled },
      })
      forget('alert-rules')
      toast(t.ruleChanged(name))
      return
    }
    const { value, would_fire, unit } = await api.post(
      '/platform/alerts/rules/{rule_id}/evaluate',
      { params },
    )
    if (value === null) toast(t.notKnown)
    else toast(`${would_fire ? t.wouldFire : t.wouldNotFire}: ${number(value)} ${unit}`)
  }
  if (!may<'PUT /platform/alerts/rules/{rule_id}'>('operator')) return null
  return (
    <>
      <Menu name={common.actionsFor(name)}>
        <MenuItem onClick={() => run('evaluate')}>{t.evaluate}</MenuItem>
        <MenuItem onClick={() => setOpen('edit')}>{t.editRule}</MenuItem>
        <MenuItem onClick={() => run('switch')}>{enabled ? t.disable : t.enable}</MenuItem>
        <MenuItem danger onClick={() => setOpen('delete')}>
          {t.remove}
        </MenuItem>
      </Menu>
      {open === 'edit' && <RuleDialog rule={rule} open onClose={close} />}
      <ConfirmByNameWithReason
        name={name}
        kind="alert-rule"
        open={open === 'delete'}
        onClose={close}
        title={t.removeTitle(name)}
        submit={t.remove}
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
      </ConfirmByNameWithReason>
    </>
  )
}
