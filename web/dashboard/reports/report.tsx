import type { Report } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { useParams } from '../../lib/router.tsx'
import { Details } from '../../ui/details.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Card, Heading, Text, Time } from '../../ui/page.tsx'
import { Figures, VolumeChart } from '../analytics/figures.tsx'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

export function ReportPage() {
  const { report_id = '' } = useParams()
  const { data, error, again } = useQuery(`report ${report_id}`, () =>
    api.get('/analytics/reports/{report_id}', { params: { report_id } }),
  )
  return (
    <>
      <Heading
        title={data ? t.types[data.report_type] : titles.report}
        parent={{ title: titles.reports, to: '/app/reports' }}
      >
        {data && (
          <a class="button" href={`/app/reports?${new URLSearchParams(askedOf(data))}`}>
            {t.again}
          </a>
        )}
      </Heading>
      <Failed error={error} again={again} />
      {data && (
        <>
          <Card>
            <Details
              rows={[
                [t.domain, <Text key="domain">{data.domain}</Text>],
                [t.period, t.days(number(data.period_days))],
                [t.generated, <Time key="at" iso={data.generated_at} form="dateTime" />],
              ]}
            />
          </Card>
          <Card title={t.types[data.report_type]}>
            <Content report={data} />
          </Card>
        </>
      )}
    </>
  )
}

const askedOf = ({ domain, report_type, period_days }: Report) => ({
  domain,
  type: report_type,
  days: String(period_days),
})

type Volume = Parameters<typeof VolumeChart>[0]['volume']

const Content = ({ report }: { report: Report }) =>
  report.report_type === 'email-volume' ? (
    <VolumeChart
      volume={(report.data as { volume?: Volume }).volume ?? []}
      days={report.period_days}
      end={report.generated_at}
    />
  ) : (
    <Figures data={report.data} />
  )
