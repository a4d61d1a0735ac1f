import type { Get } from '../../api/schema.ts'
import { bytes, date, number } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { visible } from '../../lib/visible.ts'
import { Chart } from '../../ui/chart.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Bytes, Card, Empty, Facts, Usage } from '../../ui/page.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

type History = Get['/storage/history/{entity_type}/{identifier}']['data']

const DAYS = 90

/** The usage of a domain or a mailbox by day, and the day on which its quota fills up. */
export function StorageHistory({ type, name }: { type: History['entity_type']; name: string }) {
  const { data, error, again } = useQuery(`storage history ${type} ${name}`, () =>
    api.get('/storage/history/{entity_type}/{identifier}', {
      params: { entity_type: type, identifier: name },
      query: { days: DAYS },
    }),
  )
  const title = t.historyOf(visible(name))
  return (
    <Card title={title}>
      <Failed error={error} again={again} />
      {data && (
        <>
          <Facts facts={factsOf(data)} />
          <div class="chart-room">
            {data.days.length === 0 ? (
              <Empty title={t.noHistory}>{t.noHistoryHint}</Empty>
            ) : (
              <Chart
                title={title}
                labels={data.days.map((day) => date(day.date))}
                series={[
                  {
                    name: t.types.mailbox,
                    tone: 'accent',
                    values: data.days.map(({ mailbox_bytes }) => mailbox_bytes),
                  },
                  {
                    name: t.types.total,
                    tone: 'good',
                    values: data.days.map(({ used_bytes }) => used_bytes),
                  },
                ]}
                show={bytes}
              />
            )}
          </div>
        </>
      )}
    </Card>
  )
}

function factsOf({ by_type, quota_bytes, forecast }: History) {
  const mail = by_type.find(({ storage_type }) => storage_type === 'mailbox')?.used_bytes ?? 0
  const others = by_type.filter(({ storage_type }) => storage_type !== 'mailbox')
  return [
    {
      name: t.types.mailbox,
      value: <Usage used={mail} limit={quota_bytes ?? 0} label={t.types.mailbox} />,
    },
    ...others.map(({ storage_type, used_bytes }) => ({
      name: t.types[storage_type as 'dav'] ?? storage_type,
      value: <Bytes value={used_bytes} />,
    })),
    { name: t.growth, value: forecast ? t.perDay(bytes(forecast.bytes_per_day)) : t.unknown },
    {
      name: t.full,
      value:
        forecast === null
          ? t.tooFewDays
          : forecast.fills_at === null
            ? t.notInSight
            : t.fullOn(date(forecast.fills_at), number(forecast.days_left ?? 0)),
    },
  ]
}
