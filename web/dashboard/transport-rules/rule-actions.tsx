import { useState } from 'preact/hooks'
import type { TransportRule } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useAction } from '../../lib/query.ts'
import { ConfirmByName } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Text } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

async function enable({ id, name }: TransportRule, enabled: boolean, key?: string) {
  await api.put('/transport-rules/{rule_id}/enable', {
    params: { rule_id: id },
    query: { enabled },
    ...(key && { idempotencyKey: key }),
  })
  forget('transport-rule')
  toast(enabled ? t.turnedOn(name) : t.turnedOff(name))
}

/** Buttons that turn a rule on or off and delete it. */
export function RuleActions({ rule, onRemoved }: { rule: TransportRule; onRemoved?: () => void }) {
  const may = useMay()
  const [removing, setRemoving] = useState(false)
  const toggle = useAction((key) => enable(rule, !rule.enabled, key))
  const ofRule = (
    <span class="hidden">
      {' '}
      <Text>{rule.name}</Text>
    </span>
  )
  if (!may<'PUT /transport-rules/{rule_id}/enable'>('write')) return null
  return (
    <>
      <button type="button" class="small" disabled={toggle.busy} onClick={() => void toggle.run()}>
        {rule.enabled ? t.turnOff : t.turnOn}
        {ofRule}
      </button>
      <button type="button" class="small" onClick={() => setRemoving(true)}>
        {t.remove}
        {ofRule}
      </button>
      <Failed error={toggle.error} />
      <ConfirmByName
        name={rule.name}
        title={t.removeTitle(rule.name)}
        open={removing}
        onClose={() => setRemoving(false)}
        submit={t.remove}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/transport-rules/{rule_id}', {
            params: { rule_id: rule.id },
            idempotencyKey,
          })
          toast(t.removed(rule.name))
          forget('transport-rules')
          onRemoved?.()
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByName>
    </>
  )
}
