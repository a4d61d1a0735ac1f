import { useState } from 'preact/hooks'
import type { ReportSchedule } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { Icon } from '../../ui/icon.tsx'
import { plus } from '../../ui/icons.ts'
import { Badge, Card, Empty, Text, Time } from '../../ui/page.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { ScheduleActions } from './schedule-actions.tsx'
import { ScheduleDialog } from './schedule-dialog.tsx'
import { t } from './words.ts'

export function Schedules({ domains }: { domains: readonly (readonly [string, string])[] }) {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const [secret, setSecret] = useState<string>()
  const { data, error, loading, again } = useQuery('report schedules', () =>
    api.get('/analytics/reports/scheduled'),
  )
  const add = may<'POST /analytics/reports/scheduled'>('write') && (
    <button type="button" onClick={() => setAdding(true)}>
      <Icon path={plus} size={16} />
      {t.schedule}
    </button>
  )
  return (
    <>
      <Failed error={error} again={again} />
      <Card title={t.schedules} actions={data && data.count > 0 && add} flush>
        <Table
          caption={t.schedules}
          columns={columnsWith(setSecret)}
          rows={data?.schedules}
          rowKey={({ schedule_id }) => schedule_id}
          loading={loading}
          expected={2}
          empty={
            <Empty title={t.none} action={add}>
              {t.noneHint}
            </Empty>
          }
        />
      </Card>
      <ScheduleDialog
        title={t.schedule}
        open={adding}
        onClose={() => setAdding(false)}
        submit={t.schedule}
        domains={domains}
        save={async (fields, domain, idempotencyKey) => {
          const created = await api.post('/analytics/reports/scheduled', {
            body: { domain, ...fields },
            idempotencyKey,
          })
          forget('report schedules')
          setSecret(created.webhook_secret)
          toast(t.scheduled(domain))
        }}
      />
      <SecretDialog
        title={t.secretTitle}
        secret={secret}
        fileName="report-webhook-secret.txt"
        onClose={() => setSecret(undefined)}
      >
        <p>{t.secretHint}</p>
      </SecretDialog>
    </>
  )
}

const columnsWith = (show: (secret: string | undefined) => void): Column<ReportSchedule>[] => [
  {
    title: t.domain,
    cell: ({ domain, report_type }) => (
      <>
        <Text>{domain}</Text>
        <small class="under">{t.types[report_type]}</small>
      </>
    ),
  },
  { title: t.interval, cell: ({ interval }) => t.intervals[interval] },
  {
    title: t.recipients,
    minor: true,
    cell: ({ recipients, webhook_url }) => (
      <Text>{[...recipients, ...(webhook_url ? [webhook_url] : [])].join(', ')}</Text>
    ),
  },
  {
    title: t.lastRun,
    minor: true,
    cell: ({ last_run_at, last_error }) => (
      <>
        <Time iso={last_run_at} />
        {last_error && (
          <small class="under">
            <Badge tone="bad">{t.failed}</Badge> <Text>{last_error}</Text>
          </small>
        )}
      </>
    ),
  },
  {
    title: common.actions,
    quiet: true,
    cell: (one) => <ScheduleActions schedule={one} show={show} />,
  },
]
