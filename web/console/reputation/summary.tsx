import type { Get } from '../../api/schema.ts'
import { day, number } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { Chart } from '../../ui/chart.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Card, Empty, Facts, Heading } from '../../ui/page.tsx'
import { Period, useDays } from '../../ui/period.tsx'
import { Table } from '../../ui/table.tsx'
import { api } from '../api.ts'
import { domainColumns } from './domains.tsx'
import { ipColumns } from './ips.tsx'
import { ReputationTabs } from './tabs.tsx'
import { t } from './words.ts'

const PERIODS = [7, 30, 90]
export function Reputation() {
  const period = useDays(PERIODS)
  const { days } = period
  const { data, error, again } = useQuery(`reputation summary ${days}`, () =>
    api.get('/reputation/summary', { query: { days } }),
  )
  return (
    <>
      <Heading title={t.title} />
      <ReputationTabs />
      <Failed error={error} again={again} />
      {data && <Suppressed {...data.suppressions} />}
      <Card title={t.complaints} actions={<Period {...period} small />}>
        <div class="chart-room">{data && <Complaints trend={data.complaint_trend} />}</div>
      </Card>
      <Card
        title={t.worstDomains}
        flush
        actions={<a href="/console/reputation/domains">{t.allDomains}</a>}
      >
        <Table
          caption={t.worstDomains}
          columns={domainColumns}
          rows={data?.worst_domains}
          rowKey={({ id }) => id}
          empty={<Empty title={t.noDomains}>{t.noDomainsHint}</Empty>}
        />
      </Card>
      <Card title={t.worstIps} flush actions={<a href="/console/reputation/ips">{t.allIps}</a>}>
        <Table
          caption={t.worstIps}
          columns={ipColumns}
          rows={data?.worst_ips}
          rowKey={({ id }) => id}
          empty={<Empty title={t.noIps}>{t.noIpsHint}</Empty>}
        />
      </Card>
    </>
  )
}

type Summary = Get['/reputation/summary']['data']

const Suppressed = ({ total, by_type }: Summary['suppressions']) => (
  <Card>
    <Facts
      facts={[
        { name: t.suppressed, value: number(total) },
        ...Object.entries(by_type).map(([type, count]) => ({
          name: t.ofType[type as keyof typeof t.ofType],
          value: number(count),
        })),
      ]}
    />
  </Card>
)

const Complaints = ({ trend }: { trend: Summary['complaint_trend'] }) => (
  <Chart
    title={t.complaints}
    labels={trend.map(({ date }) => day(date))}
    series={[{ name: t.complaint, tone: 'bad', values: trend.map(({ complaints }) => complaints) }]}
  />
)
