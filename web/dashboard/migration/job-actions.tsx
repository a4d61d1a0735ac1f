import { useState } from 'preact/hooks'
import type { MigrationError, MigrationJob } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Empty, Text, Time } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

async function start(act: () => Promise<unknown>, done: string): Promise<void> {
  await act()
  forget('migration')
  toast(done)
}

export function JobActions({ job }: { job: MigrationJob }) {
  const may = useMay()
  const [open, setOpen] = useState<'cancel' | 'errors'>()
  const { job_id, status, target_email: email, failed_messages } = job
  const params = { job_id }
  const close = () => setOpen(undefined)
  const isOpen = status === 'pending' || status === 'running'
  const mayChange = may<'POST /migration/jobs/{job_id}/cancel'>('write')
  return (
    <>
      <Menu name={common.actionsFor(email)}>
        <MenuItem onClick={() => setOpen('errors')}>{t.errors}</MenuItem>
        {mayChange && isOpen && <MenuItem onClick={() => setOpen('cancel')}>{t.cancel}</MenuItem>}
        {mayChange && !isOpen && (
          <MenuItem
            onClick={() =>
              start(
                () => api.post('/migration/jobs/{job_id}/delta', { params }),
                t.deltaStarted(email),
              )
            }
          >
            {t.delta}
          </MenuItem>
        )}
        {mayChange && !isOpen && failed_messages > 0 && (
          <MenuItem
            onClick={() =>
              start(
                () => api.post('/migration/jobs/{job_id}/retry-failed', { params }),
                t.retried(email),
              )
            }
          >
            {t.retry}
          </MenuItem>
        )}
      </Menu>
      <Confirm
        open={open === 'cancel'}
        onClose={close}
        title={t.cancelTitle(email)}
        submit={t.cancel}
        onConfirm={async (idempotencyKey) => {
          await api.post('/migration/jobs/{job_id}/cancel', { params, idempotencyKey })
          forget('migration')
          toast(t.cancelled(email))
        }}
      >
        <p>{t.cancelHint}</p>
      </Confirm>
      <Dialog title={t.errorsTitle(email)} open={open === 'errors'} onClose={close} size="wide">
        <Errors jobId={job_id} />
      </Dialog>
    </>
  )
}

const columns: Column<MigrationError>[] = [
  { title: common.when, minor: true, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: t.where, cell: ({ folder }) => <Text>{folder}</Text> },
  {
    title: t.what,
    cell: ({ error_message }) => (
      <span lang="en">
        <Text>{error_message}</Text>
      </span>
    ),
  },
]

function Errors({ jobId }: { jobId: string }) {
  const { data, error, again } = useQuery(`migration errors ${jobId}`, () =>
    api.get('/migration/jobs/{job_id}/errors', { params: { job_id: jobId } }),
  )
  return (
    <>
      <Failed error={error} again={again} />
      <Table
        caption={t.errors}
        columns={columns}
        rows={data?.errors}
        rowKey={({ folder, message_uid, created_at }) => `${folder} ${message_uid} ${created_at}`}
        expected={3}
        empty={<Empty title={t.noErrors} />}
      />
    </>
  )
}
