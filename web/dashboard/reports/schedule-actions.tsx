import { useState } from 'preact/hooks'
import type { ReportSchedule } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { ConfirmByName } from '../../ui/confirm.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { ScheduleDialog } from './schedule-dialog.tsx'
import { t } from './words.ts'

interface Props {
  schedule: ReportSchedule
  /** Shows the secret of a new webhook URL once. */
  show(secret: string | undefined): void
}

export function ScheduleActions({ schedule, show }: Props) {
  const may = useMay()
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const { schedule_id, domain } = schedule
  const params = { schedule_id }
  const close = () => setOpen(undefined)
  if (!may<'PUT /analytics/reports/scheduled/{schedule_id}'>('write')) return null
  return (
    <>
      <Menu name={common.actionsFor(domain)}>
        <MenuItem onClick={() => setOpen('edit')}>{t.edit}</MenuItem>
        <MenuItem danger onClick={() => setOpen('delete')}>
          {t.remove}
        </MenuItem>
      </Menu>
      <ScheduleDialog
        title={t.editTitle(domain)}
        open={open === 'edit'}
        onClose={close}
        submit={common.save}
        schedule={schedule}
        save={async ({ webhook_url, ...fields }, _domain, idempotencyKey) => {
          const changed = await api.put('/analytics/reports/scheduled/{schedule_id}', {
            params,
            // An unchanged URL keeps its secret.
            body: { ...fields, ...(webhook_url !== schedule.webhook_url && { webhook_url }) },
            idempotencyKey,
          })
          forget('report schedules')
          show(changed.webhook_secret)
          toast(t.changed(domain))
        }}
      />
      <ConfirmByName
        name={domain}
        title={t.removeTitle(domain)}
        open={open === 'delete'}
        onClose={close}
        submit={t.remove}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/analytics/reports/scheduled/{schedule_id}', { params, idempotencyKey })
          forget('report schedules')
          toast(t.removed(domain))
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByName>
    </>
  )
}
