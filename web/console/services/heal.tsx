import { useState } from 'preact/hooks'
import { attempt } from '../../lib/attempt.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useAction } from '../../lib/query.ts'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { Text } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

/** Restarts what is down. A dry run says first what that would be. */
export function Heal() {
  const may = useMay()
  const [planned, setPlanned] = useState<string[]>()
  const plan = async () => {
    const { actions_taken } = await api.post('/monitoring/auto-heal', {
      body: { dry_run: true },
    })
    const names = actions_taken
      .filter(({ action }) => action === 'would_restart')
      .map(({ service }) => service)
    if (names.length > 0) setPlanned(names)
    else toast(t.healNothing)
  }
  const { run, busy } = useAction(() => attempt(plan))
  if (!may<'POST /monitoring/auto-heal'>('operator')) return null
  return (
    <>
      <button type="button" disabled={busy} onClick={() => void run()}>
        {t.heal}
      </button>
      <ConfirmWithReason
        kind="heal"
        open={planned !== undefined}
        onClose={() => setPlanned(undefined)}
        title={t.healTitle}
        submit={t.restart}
        onConfirm={async (reason, idempotencyKey) => {
          const { actions_taken } = await api.post('/monitoring/auto-heal', {
            body: { services: planned ?? [], reason },
            idempotencyKey,
          })
          forget('services')
          toast(t.healed(actions_taken.filter(({ action }) => action === 'restarted').length))
        }}
      >
        <p>{t.healHint}</p>
        <ul>
          {planned?.map((name) => (
            <li key={name}>
              <Text>{name}</Text>
            </li>
          ))}
        </ul>
      </ConfirmWithReason>
    </>
  )
}
