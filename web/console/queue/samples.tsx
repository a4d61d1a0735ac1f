import { dateTime, hour } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { useQueryState } from '../../lib/router.tsx'
import { Chart } from '../../ui/chart.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Card, Empty } from '../../ui/page.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

const DAY_HOURS = 24
const REFRESH_SECONDS = 60

/** The length of the queue over time, by the samples of the queue manager. */
export function Samples() {
  const [asked, change] = useQueryState('hours')
  const hours = asked.hours in t.periods ? Number(asked.hours) : DAY_HOURS
  const { data, error, again } = useQuery(
    `queue samples ${hours}`,
    () => api.get('/queue/samples', { query: { hours } }),
    { everySeconds: REFRESH_SECONDS },
  )
  return (
    <Card
      title={t.overTime}
      actions={
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
      }
    >
      <div class="chart-room">
        <Failed error={error} again={again} />
        {data &&
          (data.points.length === 0 ? (
            <Empty title={t.noSamples}>{t.noSamplesHint}</Empty>
          ) : (
            <Chart
              title={t.overTime}
              labels={data.points.map((point) => (hours > DAY_HOURS ? dateTime : hour)(point.t))}
              series={[
                {
                  name: t.statuses.deferred,
                  tone: 'warn',
                  values: data.points.map(({ deferred }) => deferred),
                },
                {
                  name: t.statuses.active,
                  tone: 'accent',
                  values: data.points.map(({ active }) => active),
                },
                {
                  name: t.statuses.hold,
                  tone: 'bad',
                  values: data.points.map(({ hold }) => hold),
                },
              ]}
            />
          ))}
      </div>
    </Card>
  )
}
