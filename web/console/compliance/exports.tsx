import { useState } from 'preact/hooks'
import type { DataExport } from '../../api/schema.ts'
import { bytes, dateTime } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Card, Empty, Text, Time } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { StatusCell } from './status-cell.tsx'
import { t } from './words.ts'

const REFRESH_SECONDS = 10
const TONES = {
  pending: 'info',
  processing: 'info',
  completed: 'good',
  failed: 'bad',
  expired: '',
} as const

const columns: Column<DataExport>[] = [
  { title: common.when, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: t.kind, minor: true, cell: ({ export_type }) => t.kinds[export_type] },
  {
    title: t.status,
    cell: ({ status, error_message }) => (
      <StatusCell tone={TONES[status]} status={t.exportStatus[status]} error={error_message} />
    ),
  },
  { title: t.requestedBy, minor: true, cell: ({ requested_by }) => <Text>{requested_by}</Text> },
  {
    title: t.size,
    number: true,
    minor: true,
    cell: ({ status, file_size }) => (status === 'completed' ? bytes(file_size) : '–'),
  },
  { title: t.expires, minor: true, cell: ({ expires_at }) => <Time iso={expires_at} /> },
  { title: common.actions, quiet: true, cell: (row) => <Get row={row} /> },
]

/** The browser saves the archive itself; it may be large. */
function Get({ row }: { row: DataExport }) {
  const may = useMay()
  const isReady = row.status === 'completed'
  if (!isReady || !may<'GET /compliance/data-export/{user_email}/download/{export_id}'>('owner')) {
    return null
  }
  return (
    <a
      class="button small"
      download
      href={`/api/v1/compliance/data-export/${encodeURIComponent(row.user_email)}/download/${row.id}`}
    >
      {common.download}
      <span class="hidden"> {t.downloadOf(dateTime(row.created_at))}</span>
    </a>
  )
}

export function Exports({ email }: { email: string }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  const params = { user_email: email }
  const { data, error, again } = useQuery(
    `compliance ${email} exports`,
    () => api.get('/compliance/data-export/{user_email}/status', { params }),
    { everySeconds: REFRESH_SECONDS },
  )
  const start = may<'POST /compliance/data-export/{user_email}'>('owner') && (
    <button type="button" class="small" onClick={() => setOpen(true)}>
      {t.exportNew}
    </button>
  )
  return (
    <Card title={t.exports} flush actions={start}>
      <Failed error={error} again={again} />
      <Table
        caption={t.exports}
        columns={columns}
        rows={data?.items}
        expected={1}
        rowKey={({ id }) => id}
        empty={<Empty title={t.noExports}>{t.noExportsHint}</Empty>}
      />
      <FormDialog
        title={t.exportNew}
        open={open}
        onClose={() => setOpen(false)}
        submit={t.exportNew}
        onSubmit={async (values, idempotencyKey) => {
          await api.post('/compliance/data-export/{user_email}', {
            params,
            body: {
              export_type: values.text('export_type') as 'full',
              requested_by: values.text('requested_by'),
            },
            idempotencyKey,
          })
          forget('compliance')
          toast(t.exportStarted)
        }}
      >
        <p class="prose">{t.exportHint}</p>
        <Select label={t.kind} name="export_type" value="full" options={Object.entries(t.kinds)} />
        <Field
          label={t.requestedBy}
          name="requested_by"
          required
          hint={t.requestedByHint}
          autocomplete="off"
        />
      </FormDialog>
    </Card>
  )
}
