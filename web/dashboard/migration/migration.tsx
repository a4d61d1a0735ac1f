import { useState } from 'preact/hooks'
import type { MigrationJob } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time, type Tone, Usage } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { JobActions } from './job-actions.tsx'
import { t } from './words.ts'

/** Figures of a running job change all the time. */
const READ_AGAIN_SECONDS = 5

const TONES: Record<MigrationJob['status'], Tone> = {
  pending: '',
  running: 'info',
  completed: 'good',
  failed: 'bad',
  cancelled: 'warn',
}

const columns: Column<MigrationJob>[] = [
  { title: t.mailbox, cell: ({ target_email }) => <Text>{target_email}</Text> },
  {
    title: t.from,
    minor: true,
    cell: ({ source_host, source_username }) => (
      <>
        <Text>{source_username}</Text>
        <div class="muted">
          <Text>{source_host}</Text>
        </div>
      </>
    ),
  },
  { title: t.direction, minor: true, cell: ({ direction }) => t.directions[direction] },
  {
    title: t.status,
    cell: ({ status, error, current_folder }) => (
      <>
        <Badge tone={TONES[status]}>{t.statuses[status]}</Badge>
        {status === 'running' && current_folder && (
          <div class="muted">
            <Text>{t.folder(current_folder)}</Text>
          </div>
        )}
        {error && (
          <div class="wrong" lang="en">
            <Text>{error}</Text>
          </div>
        )}
      </>
    ),
  },
  {
    title: t.progress,
    cell: ({ migrated_messages, total_messages, failed_messages }) => (
      <>
        <Usage used={migrated_messages} limit={total_messages} label={t.progress} show={number} />
        {failed_messages > 0 && <div class="wrong">{t.failedCount(failed_messages)}</div>}
      </>
    ),
  },
  { title: t.created, minor: true, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: common.actions, quiet: true, cell: (job) => <JobActions job={job} /> },
]

export function Migration() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'migration',
    sort: '',
    filters: ['status', 'direction'],
    everySeconds: READ_AGAIN_SECONDS,
    read: async ({ page, per_page, filters }) => {
      const { jobs, total } = await api.get('/migration/jobs', {
        query: {
          page,
          per_page,
          ...(filters.status && { status: filters.status as MigrationJob['status'] }),
          ...(filters.direction && { direction: filters.direction as 'import' }),
        },
      })
      return { items: jobs, pagination: { total } }
    },
  })
  const add = (words: string) =>
    may<'POST /migration/import'>('write') && (
      <AddButton onClick={() => setAdding(true)}>{words}</AddButton>
    )
  return (
    <>
      <Heading title={titles.migration}>{add(t.add)}</Heading>
      <SearchBar list={list}>
        <Choice
          label={t.anyStatus}
          value={list.asked.filters.status}
          options={Object.entries(t.statuses)}
          change={(status) => list.set({ status })}
        />
        <Choice
          label={t.anyDirection}
          value={list.asked.filters.direction}
          options={Object.entries(t.directions)}
          change={(direction) => list.set({ direction })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={titles.migration}
        columns={columns}
        rowKey={({ job_id }) => job_id}
        empty={
          <Empty title={t.none} action={add(t.addFirst)}>
            {t.noneHint}
          </Empty>
        }
      />
      <Import open={adding} onClose={() => setAdding(false)} />
    </>
  )
}

const Import = (dialog: { open: boolean; onClose(): void }) => (
  <FormDialog
    {...dialog}
    title={t.add}
    submit={t.add}
    onSubmit={async (values, idempotencyKey) => {
      const target_email = values.text('target_email')
      await api.post('/migration/import', {
        body: {
          source_host: values.text('source_host'),
          source_username: values.text('source_username'),
          source_password: values.secret('source_password'),
          target_email,
          target_password: values.secret('target_password'),
        },
        idempotencyKey,
      })
      forget('migration')
      toast(t.started(target_email))
    }}
  >
    <h3>{t.source}</h3>
    <Field label={t.host} name="source_host" hint={t.hostHint} autocomplete="off" required />
    <Field label={t.username} name="source_username" autocomplete="off" required />
    <Field
      label={t.sourcePassword}
      name="source_password"
      type="password"
      autocomplete="off"
      required
    />
    <h3>{t.target}</h3>
    <Field label={t.targetEmail} name="target_email" type="email" autocomplete="off" required />
    <Field
      label={t.targetPassword}
      name="target_password"
      type="password"
      autocomplete="off"
      required
    />
  </FormDialog>
)
