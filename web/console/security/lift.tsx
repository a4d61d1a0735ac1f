import { useState } from 'preact/hooks'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { RowButton } from '../../ui/buttons.tsx'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

/** Lifts what refuses an address or, where there is none, an account. */
export function Lift({
  client_ip,
  username,
}: {
  client_ip: string | null
  username: string | null
}) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  const what = username ?? client_ip
  if (!what || !may<'POST /security/throttles/lift'>('operator')) return null
  return (
    <>
      <RowButton name={what} onClick={() => setOpen(true)}>
        {t.lift}
      </RowButton>
      <ConfirmWithReason
        kind="lift"
        open={open}
        onClose={() => setOpen(false)}
        title={t.liftTitle(what)}
        submit={t.lift}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/security/throttles/lift', {
            body: { ...(username ? { username } : { client_ip: what }), reason },
            idempotencyKey,
          })
          forget('security')
          toast(t.lifted(what))
        }}
      >
        <p>{t.liftHint}</p>
      </ConfirmWithReason>
    </>
  )
}
