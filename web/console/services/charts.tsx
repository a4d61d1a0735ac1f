import type { Get } from '../../api/schema.ts'
import { dateTime, hour } from '../../lib/format.ts'
import { locale } from '../../lib/language.ts'
import { useQuery } from '../../lib/query.ts'
import { useQueryState } from '../../lib/router.tsx'
import { Chart, type Series } from '../../ui/chart.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Card, Empty } from '../../ui/page.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

type Metric = keyof typeof t.metrics
type Range = Get['/platform/metrics/range']['data']

const REFRESH_SECONDS = 60
const DAY_HOURS = 24
const TONES = ['accent', 'good', 'warn', 'bad'] as const

const figure = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })

/** One figure over a period; both are in the address. */
export function Charts() {
  const [asked, change] = useQueryState('metric', 'hours')
  const query = (asked.metric in t.metrics ? asked.metric : 'cpu_usage_percent') as Metric
  const hours = asked.hours in t.periods ? Number(asked.hours) : DAY_HOURS
  const { data, error, again } = useQuery(
    `metrics ${query} ${hours}`,
    () => api.get('/platform/metrics/range', { query: { query, hours } }),
    { everySeconds: REFRESH_SECONDS },
  )
  return (
    <Card
      title={t.charts}
      actions={
        <>
          <select
            class="small"
            aria-label={t.metric}
            value={query}
            onChange={(event) => change({ metric: event.currentTarget.value })}
          >
            {Object.entries(t.metrics).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
          <select
            class="small"
            aria-label={t.period}
            value={String(hours)}
            onChange={(event) => change({ hours: event.currentTarget.value })}
          >
            {Object.entries(t.periods).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </>
      }
    >
      <div class="chart-room">
        <Failed error={error} again={again} />
        {data && <Lines title={t.metrics[query]} range={data} hours={hours} />}
      </div>
    </Card>
  )
}

function Lines({ title, range, hours }: { title: string; range: Range; hours: number }) {
  // Series may begin at different times; the chart needs a value of each at every time.
  const times = [...new Set(range.series.flatMap(({ points }) => points.map(({ t }) => t)))].sort()
  if (times.length === 0) return <Empty title={t.noSamples}>{t.noSamplesHint}</Empty>
  const series = range.series.slice(0, TONES.length).map(({ label, points }, index): Series => {
    const values = new Map(points.map(({ t, v }) => [t, v]))
    return {
      name: label || t.unlabelled,
      tone: TONES[index] ?? 'accent',
      values: times.map((time) => values.get(time) ?? 0),
    }
  })
  return (
    <Chart
      title={title}
      labels={times.map(hours > DAY_HOURS ? dateTime : hour)}
      series={series}
      show={(value) => figure.format(value)}
    />
  )
}
