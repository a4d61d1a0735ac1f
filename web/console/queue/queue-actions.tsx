import { useState } from 'preact/hooks'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { go } from '../../lib/router.tsx'
import { ConfirmByNameWithReason, ConfirmWithReason } from '../../ui/confirm.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Text } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { BySender } from './by-sender.tsx'
import { Headers } from './headers.tsx'
import type { Queued } from './queue.tsx'
import { t } from './words.ts'

/** Holding is undone by releasing, so neither asks. */
export function QueueActions({ message }: { message: Queued }) {
  const may = useMay()
  const [open, setOpen] = useState<'delete' | 'sender' | 'requeue' | 'headers'>()
  const { queue_id, sender, status } = message
  const params = { queue_id }
  const run = async (what: 'hold' | 'release' | 'flush') => {
    if (what === 'flush') {
      const { flushed } = await api.post('/queue/mail-queue/flush', {
        body: { queue_id },
      })
      toast(t.flushed(String(flushed)))
    } else {
      await api.post(`/queue/message/{queue_id}/${what}`, { params })
      if (what === 'hold') toast(t.held(queue_id), () => run('release'))
      else toast(t.released(queue_id))
    }
    forget('queue')
  }
  const mayChange = may<'POST /queue/message/{queue_id}/hold'>('operator')
  return (
    <>
      <Menu name={common.actionsFor(queue_id)}>
        {mayChange && status !== 'hold' && (
          <MenuItem onClick={() => run('flush')}>{t.tryNow}</MenuItem>
        )}
        {mayChange &&
          (status === 'hold' ? (
            <MenuItem onClick={() => run('release')}>{t.release}</MenuItem>
          ) : (
            <MenuItem onClick={() => run('hold')}>{t.hold}</MenuItem>
          ))}
        {mayChange && status !== 'active' && (
          <MenuItem onClick={() => setOpen('requeue')}>{t.actionsOf.requeue}</MenuItem>
        )}
        <MenuItem onClick={() => setOpen('headers')}>{t.headers}</MenuItem>
        {sender && (
          <MenuItem onClick={() => go(`/console/trace?sender=${encodeURIComponent(sender)}`)}>
            {t.trace}
          </MenuItem>
        )}
        {mayChange && <MenuItem onClick={() => setOpen('sender')}>{t.ofThisSender}</MenuItem>}
        {mayChange && (
          <MenuItem danger onClick={() => setOpen('delete')}>
            {t.remove}
          </MenuItem>
        )}
      </Menu>
      <ConfirmByNameWithReason
        kind="queue-delete"
        name={queue_id}
        open={open === 'delete'}
        onClose={() => setOpen(undefined)}
        title={t.removeTitle(queue_id)}
        submit={t.remove}
        onConfirm={async (reason, idempotencyKey) => {
          await api.delete('/queue/message/{queue_id}', {
            params,
            body: { reason },
            idempotencyKey,
          })
          forget('queue')
          toast(t.removed(queue_id))
        }}
      >
        <p>
          {t.sender}: <Text>{sender || t.bounce}</Text>
        </p>
        <p>{t.removeHint}</p>
      </ConfirmByNameWithReason>
      <ConfirmWithReason
        kind="queue-requeue"
        open={open === 'requeue'}
        onClose={() => setOpen(undefined)}
        title={t.requeueTitle(queue_id)}
        submit={t.actionsOf.requeue}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/queue/message/{queue_id}/requeue', {
            params,
            body: { reason },
            idempotencyKey,
          })
          forget('queue')
          toast(t.requeued(queue_id))
        }}
      >
        <p>{t.requeueHint}</p>
      </ConfirmWithReason>
      <Headers id={queue_id} open={open === 'headers'} onClose={() => setOpen(undefined)} />
      <BySender
        sender={sender || 'MAILER-DAEMON'}
        open={open === 'sender'}
        onClose={() => setOpen(undefined)}
      />
    </>
  )
}
