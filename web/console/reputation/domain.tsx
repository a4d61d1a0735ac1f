import type { DomainReputation } from '../../api/schema.ts'
import { date, number } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { useParams } from '../../lib/router.tsx'
import { Chart } from '../../ui/chart.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Card, Empty, Facts, Heading } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { api } from '../api.ts'
import { OrganizationLink } from '../organization-link.tsx'
import { complaintColumns } from './feedback.tsx'
import { Score } from './score.tsx'
import { t } from './words.ts'

export function ReputationDomain() {
  const { domain = '' } = useParams()
  const { data, error, again } = useQuery(`reputation domain ${domain}`, () =>
    api.get('/reputation/domains/{domain}', { params: { domain } }),
  )
  return (
    <>
      <Heading
        title={`${t.title}: ${domain}`}
        parent={{ title: t.domains, to: '/console/reputation/domains' }}
        badge={data?.current && <Score value={data.current.overall_score} />}
      />
      <Failed error={error} again={again} />
      {data?.current && <Current current={data.current} />}
      {data && (
        <Card title={t.scores}>
          {data.history.length === 0 ? (
            <Empty title={t.noDomains}>{t.noDomainsHint}</Empty>
          ) : (
            <History domain={data.domain} history={data.history} />
          )}
        </Card>
      )}
      {data && (
        <Card title={t.feedback} flush>
          <Table
            caption={t.feedback}
            columns={complaintColumns}
            rows={data.complaints}
            rowKey={({ id }) => id}
            empty={<Empty title={t.noComplaints}>{t.noComplaintsHint}</Empty>}
          />
        </Card>
      )}
    </>
  )
}

const Current = ({ current }: { current: DomainReputation }) => (
  <Card>
    <Facts
      facts={[
        {
          name: t.score,
          value: number(current.overall_score),
          note: current.trend !== null && t.trend(signed(current.trend)),
        },
        { name: t.deliverability, value: number(current.deliverability_score) },
        { name: t.engagement, value: number(current.engagement_score) },
        { name: t.sent, value: number(current.emails_sent) },
        { name: t.bounced, value: number(current.emails_bounced) },
        { name: t.complaint, value: number(current.emails_complained) },
        { name: t.opened, value: number(current.emails_opened) },
        { name: t.organization, value: <OrganizationLink id={current.organization_id} /> },
      ]}
    />
  </Card>
)

const signed = (value: number) => (value > 0 ? `+${number(value)}` : number(value))

function History({ domain, history }: { domain: string; history: readonly DomainReputation[] }) {
  // The API sends the newest first; a line over time starts with the oldest.
  const oldestFirst = [...history].reverse()
  return (
    <div class="chart-room">
      <Chart
        title={t.scoresOf(domain)}
        labels={oldestFirst.map(({ period_start }) => date(period_start))}
        series={[
          { name: t.score, tone: 'accent', values: oldestFirst.map((one) => one.overall_score) },
          {
            name: t.deliverability,
            tone: 'good',
            values: oldestFirst.map((one) => one.deliverability_score),
          },
          {
            name: t.engagement,
            tone: 'warn',
            values: oldestFirst.map((one) => one.engagement_score),
          },
        ]}
      />
    </div>
  )
}
