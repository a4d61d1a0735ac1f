import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { MigrationJob } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time, type Tone, Usage } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { JobActions } from './job-actions.tsx'
import { type Direction, StartMany, StartOne } from './start.tsx'
import { t } from './words.ts'

const DIRECTIONS = ['import', 'export'] as const

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
  const [open, setOpen] = useState<Direction | `${Direction} many`>()
  const close = () => setOpen(undefined)
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
  const mayAdd = may<'POST /migration/import'>('write')
  const add = (words: string) =>
    mayAdd && <AddButton onClick={() => setOpen('import')}>{words}</AddButton>
  return (
    <>
      <Heading title={titles.migration}>
        {mayAdd && (
          <>
            <button type="button" onClick={() => setOpen('export many')}>
              {t.addMany.export}
            </button>
            <button type="button" onClick={() => setOpen('export')}>
              {t.add.export}
            </button>
            <button type="button" onClick={() => setOpen('import many')}>
              {t.addMany.import}
            </button>
          </>
        )}
        {add(t.add.import)}
      </Heading>
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
      {DIRECTIONS.map((direction) => (
        <Fragment key={direction}>
          <StartOne direction={direction} open={open === direction} onClose={close} />
          <StartMany direction={direction} open={open === `${direction} many`} onClose={close} />
        </Fragment>
      ))}
    </>
  )
}
