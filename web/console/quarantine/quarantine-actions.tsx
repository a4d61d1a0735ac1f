import { useState } from 'preact/hooks'
import type { QuarantinedMessage } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { ConfirmByNameWithReason, ConfirmWithReason } from '../../ui/confirm.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

/** The actions on a message that is still held. */
export function QuarantineActions({ message }: { message: QuarantinedMessage }) {
  const may = useMay()
  const [open, setOpen] = useState<'release' | 'delete' | 'block'>()
  const { id, sender, recipient, status } = message
  const params = { quarantine_id: id }
  const dialog = (which: typeof open) => ({
    open: open === which,
    onClose: () => setOpen(undefined),
  })
  const mayRelease = may<'POST /message-trace/quarantine/{quarantine_id}/release'>('admin')
  const mayDelete = may<'POST /message-trace/quarantine/{quarantine_id}/delete'>('operator')
  if (status !== 'quarantined' || !(mayRelease || mayDelete)) return null
  const done = (text: string) => {
    forget('quarantine')
    forget('trace')
    toast(text)
  }
  return (
    <>
      <Menu name={common.actionsFor(message.subject || t.noSubject)}>
        {mayRelease && <MenuItem onClick={() => setOpen('release')}>{t.release}</MenuItem>}
        {mayDelete && (
          <MenuItem danger onClick={() => setOpen('delete')}>
            {t.remove}
          </MenuItem>
        )}
        {mayDelete && sender && (
          <MenuItem danger onClick={() => setOpen('block')}>
            {t.block}
          </MenuItem>
        )}
      </Menu>
      <ConfirmWithReason
        {...dialog('release')}
        kind="quarantine-release"
        title={t.releaseTitle}
        submit={t.release}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/message-trace/quarantine/{quarantine_id}/release', {
            params,
            body: { reason },
            idempotencyKey,
          })
          done(t.releasedNow(recipient))
        }}
      >
        <p>{t.releaseHint(recipient)}</p>
      </ConfirmWithReason>
      <ConfirmByNameWithReason
        name={recipient}
        {...dialog('delete')}
        kind="quarantine-delete"
        title={t.removeTitle}
        submit={t.remove}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/message-trace/quarantine/{quarantine_id}/delete', {
            params,
            body: { reason },
            idempotencyKey,
          })
          done(t.removed)
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByNameWithReason>
      <ConfirmWithReason
        {...dialog('block')}
        kind="quarantine-block"
        title={t.blockTitle(sender)}
        submit={t.block}
        danger
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/message-trace/quarantine/{quarantine_id}/block', {
            params,
            body: { reason },
            idempotencyKey,
          })
          done(t.blocked(sender))
        }}
      >
        <p>{t.blockHint}</p>
      </ConfirmWithReason>
    </>
  )
}
