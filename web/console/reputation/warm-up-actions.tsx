import { useState } from 'preact/hooks'
import type { WarmUpSchedule } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { ConfirmByNameWithReason, ConfirmWithReason } from '../../ui/confirm.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog, type Values } from '../../ui/form.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { OrganizationField, ReasonField } from '../fields.tsx'
import { t } from './words.ts'

const VOLUME = 5000
const DAYS = 30

const Plan = ({ warmUp }: { warmUp?: WarmUpSchedule }) => (
  <div class="pair">
    <Field
      label={t.target}
      name="target_daily_volume"
      type="number"
      min={1}
      max={100_000_000}
      required
      value={warmUp?.target_daily_volume ?? VOLUME}
    />
    <Field
      label={t.days}
      name="warmup_days"
      type="number"
      min={1}
      max={365}
      required
      value={warmUp?.warmup_days ?? DAYS}
    />
  </div>
)

const planOf = (values: Values) => ({
  target_daily_volume: values.number('target_daily_volume') ?? VOLUME,
  warmup_days: values.number('warmup_days') ?? DAYS,
  reason: values.text('reason'),
})

function saved(ip: string) {
  forget('reputation warm-ups')
  toast(t.warmUpSaved(ip))
}

export const AddWarmUp = (dialog: { open: boolean; onClose(): void }) => (
  <FormDialog
    {...dialog}
    title={t.addWarmUp}
    submit={t.addWarmUp}
    onSubmit={async (values, idempotencyKey) => {
      const ip_address = values.text('ip_address')
      await api.post('/reputation/warm-ups', {
        body: {
          ip_address,
          organization_id: values.optional('organization_id'),
          ...planOf(values),
        },
        idempotencyKey,
      })
      saved(ip_address)
    }}
  >
    <Field label={t.address} name="ip_address" required autocomplete="off" />
    <OrganizationField optional hint={t.organizationHint} />
    <Plan />
    <ReasonField />
  </FormDialog>
)

export function WarmUpActions({ warmUp }: { warmUp: WarmUpSchedule }) {
  const may = useMay()
  const [open, setOpen] = useState<'change' | 'pause' | 'end'>()
  const { ip_address, paused_at, completed } = warmUp
  const params = { ip_address }
  const dialog = (which: typeof open) => ({
    open: open === which,
    onClose: () => setOpen(undefined),
  })
  const isPaused = paused_at !== null
  if (!may<'PUT /reputation/warm-ups/{ip_address}'>('operator')) return null
  return (
    <>
      <Menu name={common.actionsFor(ip_address)}>
        <MenuItem onClick={() => setOpen('change')}>{t.change}</MenuItem>
        {!completed && (
          <MenuItem onClick={() => setOpen('pause')}>{isPaused ? t.resume : t.pause}</MenuItem>
        )}
        <MenuItem danger onClick={() => setOpen('end')}>
          {t.end}
        </MenuItem>
      </Menu>
      <FormDialog
        {...dialog('change')}
        title={t.changeTitle(ip_address)}
        submit={common.save}
        onSubmit={async (values, idempotencyKey) => {
          await api.put('/reputation/warm-ups/{ip_address}', {
            params,
            body: planOf(values),
            idempotencyKey,
          })
          saved(ip_address)
        }}
      >
        <Plan warmUp={warmUp} />
        <ReasonField />
      </FormDialog>
      <ConfirmWithReason
        {...dialog('pause')}
        kind="warm-up"
        title={isPaused ? t.resumeTitle(ip_address) : t.pauseTitle(ip_address)}
        submit={isPaused ? t.resume : t.pause}
        onConfirm={async (reason, idempotencyKey) => {
          await api.put('/reputation/warm-ups/{ip_address}', {
            params,
            body: { paused: !isPaused, reason },
            idempotencyKey,
          })
          saved(ip_address)
        }}
      >
        <p>{isPaused ? t.resumeHint : t.pauseHint}</p>
      </ConfirmWithReason>
      <ConfirmByNameWithReason
        name={ip_address}
        {...dialog('end')}
        kind="warm-up"
        title={t.endTitle(ip_address)}
        submit={t.end}
        onConfirm={async (reason, idempotencyKey) => {
          await api.delete('/reputation/warm-ups/{ip_address}', {
            params,
            body: { reason },
            idempotencyKey,
          })
          forget('reputation warm-ups')
          toast(t.warmUpEnded(ip_address))
        }}
      >
        <p>{t.endHint}</p>
      </ConfirmByNameWithReason>
    </>
  )
}
