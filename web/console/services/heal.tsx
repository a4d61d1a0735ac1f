import { useState } from 'preact/hooks'
import { useMay } from '../../lib/may.ts'
import { forget, useAction } from '../../lib/query.ts'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Text } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

/** Restarts what is down. A dry run says first what that would be. */
export function Heal() {
  const may = useMay()
  const [planned, setPlanned] = useState<string[]>()
  const [failed, setFailed] = useState(false)
  const plan = useAction(async (idempotencyKey) => {
    const { actions_taken } = await api.post('/monitoring/auto-heal', {
      body: { dry_run: true },
      idempotencyKey,
    })
    const names = actions_taken
      .filter(({ action }) => action === 'would_restart')
      .map(({ service }) => service)
    if (names.length > 0) setPlanned(names)
    else toast(t.healNothing)
  })
  if (!may<'POST /monitoring/auto-heal'>('operator')) return null
  return (
    <>
      <button
        type="button"
        disabled={plan.busy}
        onClick={async () => setFailed(!(await plan.run()))}
      >
        {t.heal}
      </button>
      <Dialog title={t.heal} open={failed} onClose={() => setFailed(false)}>
        <Failed error={plan.error} />
      </Dialog>
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
