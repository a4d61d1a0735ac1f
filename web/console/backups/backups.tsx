import { useState } from 'preact/hooks'
import type { BackupRun, Get } from '../../api/schema.ts'
import { bytes, number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { RowButton } from '../../ui/buttons.tsx'
import { ConfirmByNameWithReason } from '../../ui/confirm.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Card, Empty, Facts, Heading, Text, Time } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

type Host = Get['/platform/backups/status']['data']['hosts'][number]
const TONES = { running: 'info', completed: 'good', failed: 'bad' } as const

const hostColumns: Column<Host>[] = [
  { title: t.host, cell: ({ hostname }) => <Text>{hostname}</Text> },
  {
    title: t.state,
    cell: ({ stale }) => <Badge tone={stale ? 'bad' : 'good'}>{stale ? t.stale : t.current}</Badge>,
  },
  { title: t.lastSuccess, cell: ({ last_success_at }) => <Time iso={last_success_at} /> },
  {
    title: t.unencrypted,
    number: true,
    minor: true,
    cell: ({ unencrypted_runs }) => number(unencrypted_runs),
  },
  { title: common.actions, quiet: true, cell: ({ hostname }) => <Forget hostname={hostname} /> },
]

function Forget({ hostname }: { hostname: string }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  if (!may<'DELETE /platform/backups/hosts/{hostname}'>('admin')) return null
  return (
    <>
      <RowButton name={hostname} onClick={() => setOpen(true)}>
        {t.forget}
      </RowButton>
      <ConfirmByNameWithReason
        name={hostname}
        kind="backup host"
        open={open}
        onClose={() => setOpen(false)}
        title={t.forgetTitle(hostname)}
        submit={t.forget}
        onConfirm={async (reason, idempotencyKey) => {
          await api.delete('/platform/backups/hosts/{hostname}', {
            params: { hostname },
            body: { reason },
            idempotencyKey,
          })
          forget('backups')
          toast(t.forgotten(hostname))
        }}
      >
        <p>{t.forgetHint}</p>
      </ConfirmByNameWithReason>
    </>
  )
}

const columns: Column<BackupRun>[] = [
  {
    title: t.started,
    sort: 'started_at',
    cell: ({ started_at }) => <Time iso={started_at} form="dateTime" />,
  },
  { title: t.host, minor: true, cell: ({ hostname }) => <Text>{hostname}</Text> },
  {
    title: t.target,
    cell: ({ target }) => t.targets[target as keyof typeof t.targets] ?? target,
  },
  {
    title: t.status,
    cell: ({ status, error }) => (
      <>
        <Badge tone={TONES[status]}>{t.statuses[status]}</Badge>
        {error && (
          <div class="wrong" lang="en">
            <Text>{error}</Text>
          </div>
        )}
      </>
    ),
  },
  {
    title: t.size,
    number: true,
    cell: ({ size_bytes }) => (size_bytes === null ? '–' : bytes(size_bytes)),
  },
  { title: t.encrypted, minor: true, cell: ({ encrypted }) => (encrypted ? t.yes : t.no) },
]

export function Backups() {
  const state = useQuery('backups state', () => api.get('/platform/backups/status'))
  const list = useList({
    name: 'backups runs',
    sort: 'started_at',
    dir: 'desc',
    filters: ['status', 'target'],
    read: ({ page, per_page, sort, dir, filters }) =>
      api.get('/platform/backups', {
        query: {
          page,
          per_page,
          sort: sort as 'started_at',
          direction: dir,
          ...(filters.status && { status: filters.status as 'failed' }),
          ...(filters.target && { target: filters.target as 'all' }),
        },
      }),
  })
  const { data } = state
  return (
    <>
      <Heading title={titles.backups} />
      <Failed error={state.error} again={state.again} />
      {data && (
        <>
          {data.notes.map((note) => (
            <p key={note} class="note warn" lang="en">
              <Text>{note}</Text>
            </p>
          ))}
          <Card>
            <Facts
              facts={[
                {
                  name: t.lastSuccess,
                  value: <Time iso={data.last_success_at} />,
                  tone: data.last_success_at ? '' : 'bad',
                },
                { name: t.lastFailure, value: <Time iso={data.last_failure_at} /> },
                {
                  name: t.schedule,
                  value: data.schedule ?? t.notSet,
                  note: data.retention_days ? t.keptDays(data.retention_days) : undefined,
                },
                { name: t.size, value: bytes(data.total_size_bytes) },
              ]}
            />
          </Card>
          <Card title={t.hosts} flush>
            <Table
              caption={t.hosts}
              columns={hostColumns}
              rows={data.hosts}
              rowKey={({ hostname }) => hostname}
              empty={<Empty title={t.noHosts}>{t.noHostsHint}</Empty>}
            />
          </Card>
        </>
      )}
      <SearchBar list={list}>
        <Choice
          label={t.anyStatus}
          value={list.asked.filters.status}
          options={Object.entries(t.statuses)}
          change={(status) => list.set({ status })}
        />
        <Choice
          label={t.anyTarget}
          value={list.asked.filters.target}
          options={Object.entries(t.targets)}
          change={(target) => list.set({ target })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.runs}
        columns={columns}
        rowKey={({ id }) => String(id)}
        empty={<Empty title={t.noRuns}>{t.noHostsHint}</Empty>}
      />
    </>
  )
}
