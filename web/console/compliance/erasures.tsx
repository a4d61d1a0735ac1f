import { useState } from 'preact/hooks'
import type { DataErasure } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Card, Empty, Text, Time } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { ReasonField } from '../fields.tsx'
import { StatusCell } from './status-cell.tsx'
import { t } from './words.ts'

const TONES = { pending: 'info', soft_deleted: 'warn', hard_deleted: 'bad', cancelled: '' } as const

const columns: Column<DataErasure>[] = [
  { title: common.when, cell: ({ created_at }) => <Time iso={created_at} /> },
  {
    title: t.status,
    cell: ({ status, error_message }) => (
      <StatusCell tone={TONES[status]} status={t.erasureStatus[status]} error={error_message} />
    ),
  },
  { title: t.requestedBy, minor: true, cell: ({ requested_by }) => <Text>{requested_by}</Text> },
  {
    title: t.removal,
    cell: ({ hard_deleted_at, hard_delete_scheduled_at }) => (
      <Time iso={hard_deleted_at ?? hard_delete_scheduled_at} form="dateTime" />
    ),
  },
]

export function Erasures({ email }: { email: string }) {
  const may = useMay()
  const [open, setOpen] = useState<'erase' | 'cancel'>()
  const [typed, setTyped] = useState('')
  const close = () => {
    setOpen(undefined)
    setTyped('')
  }
  const params = { user_email: email }
  const { data, error, again } = useQuery(`compliance ${email} erasures`, () =>
    api.get('/compliance/data-erasure/{user_email}/status', { params }),
  )
  const isRunning = data?.items.some(
    ({ status }) => status === 'pending' || status === 'soft_deleted',
  )
  const action = may<'POST /compliance/data-erasure/{user_email}'>('owner') && (
    <button
      type="button"
      class={isRunning ? 'small' : 'small danger'}
      onClick={() => setOpen(isRunning ? 'cancel' : 'erase')}
    >
      {isRunning ? t.cancel : t.erase}
    </button>
  )
  return (
    <Card title={t.erasures} flush actions={action}>
      <Failed error={error} again={again} />
      <Table
        caption={t.erasures}
        columns={columns}
        rows={data?.items}
        expected={1}
        rowKey={({ id }) => id}
        empty={<Empty title={t.noErasures} />}
      />
      <FormDialog
        title={t.eraseTitle(email)}
        open={open === 'erase'}
        onClose={close}
        submit={t.erase}
        danger
        disabled={typed.trim() !== email}
        onSubmit={async (values, idempotencyKey) => {
          await api.post('/compliance/data-erasure/{user_email}', {
            params,
            body: { requested_by: values.text('requested_by'), reason: values.text('reason') },
            idempotencyKey,
          })
          forget('compliance')
          toast(t.erased)
        }}
      >
        <p class="prose">{t.eraseHint}</p>
        <Field
          label={t.requestedBy}
          name="requested_by"
          required
          hint={t.requestedByHint}
          autocomplete="off"
        />
        <ReasonField />
        <Field
          label={common.typeToConfirm(email)}
          name="confirmation"
          required
          autocomplete="off"
          onInput={setTyped}
        />
      </FormDialog>
      <ConfirmWithReason
        kind="erasure"
        open={open === 'cancel'}
        onClose={close}
        title={t.cancelTitle(email)}
        submit={t.cancel}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/compliance/data-erasure/{user_email}/cancel', {
            params,
            body: { reason },
            idempotencyKey,
          })
          forget('compliance')
          toast(t.cancelled)
        }}
      >
        <p>{t.cancelHint}</p>
      </ConfirmWithReason>
    </Card>
  )
}
