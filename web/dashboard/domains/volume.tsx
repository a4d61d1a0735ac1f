import { number, timeZone } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { Period, useDays } from '../../ui/period.tsx'
import { VolumeChart } from '../analytics/figures.tsx'
import { api } from '../api.ts'
import { t } from './volume.words.ts'

const PERIODS = [7, 30, 90]

/** The mail of a domain by day. */
export function Volume({ domain }: { domain: string }) {
  const period = useDays(PERIODS)
  const { days } = period
  const asked = { params: { domain }, query: { days, timezone: timeZone() } }
  const volume = useQuery(`volume ${domain} ${days}`, () =>
    api.get('/analytics/email-volume/{domain}', asked),
  )
  const sums = useQuery(`sums ${domain} ${days}`, () =>
    api.get('/analytics/dashboard/{domain}', asked),
  )
  const shown = (value: number | undefined) => (value === undefined ? '–' : number(value))
  return (
    <Card title={t.title} actions={<Period {...period} small />}>
      <Failed error={volume.error} again={volume.again} />
      <Facts
        facts={[
          { name: t.sent, value: shown(sums.data?.total_sent) },
          { name: t.delivered, value: shown(sums.data?.delivered) },
          { name: t.bounced, value: shown(sums.data?.bounced) },
          { name: t.failed, value: shown(sums.data?.failed) },
        ]}
      />
      <div class="chart-room">
        {volume.data && (
          <VolumeChart
            title={t.chart(domain)}
            volume={volume.data.volume}
            days={days}
            end={volume.data.generated_at}
          />
        )}
      </div>
    </Card>
  )
}
