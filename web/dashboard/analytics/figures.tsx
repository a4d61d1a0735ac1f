import { bytes, day, number, percent, timeZone } from '../../lib/format.ts'
import { Chart } from '../../ui/chart.tsx'
import { Facts } from '../../ui/page.tsx'
import { t } from './words.ts'

type Name = keyof typeof t.figures

const DAY_MS = 86_400_000

function shown(name: string, value: number | boolean): string {
  if (typeof value === 'boolean') return value ? t.yes : t.no
  if (name.endsWith('_rate')) return percent(value / 100)
  if (name.endsWith('_bytes')) return bytes(value)
  return number(value)
}

/** The figures of an answer in its order, without those that are not measured. */
export const Figures = ({ data }: { data: object }) => (
  <Facts
    facts={Object.entries(data).flatMap(([name, value]) =>
      name in t.figures && (typeof value === 'number' || typeof value === 'boolean')
        ? [{ name: t.figures[name as Name], value: shown(name, value) }]
        : [],
    )}
  />
)

interface Volume {
  date: string
  outbound: number
  inbound: number
}

/** Mail in both directions up to `end`; the API leaves days without mail out. */
export function VolumeChart({
  title = t.volume,
  volume,
  days,
  end,
}: {
  title?: string
  volume: readonly Volume[]
  days: number
  end: string
}) {
  const known = new Map(volume.map((one) => [one.date, one]))
  const last = Date.parse(localDate(end))
  const dates = Array.from({ length: days + 1 }, (_, nth) =>
    new Date(last - (days - nth) * DAY_MS).toISOString().slice(0, 10),
  )
  return (
    <Chart
      title={title}
      labels={dates.map(day)}
      series={[
        {
          name: t.outbound,
          tone: 'accent',
          values: dates.map((one) => known.get(one)?.outbound ?? 0),
        },
        { name: t.inbound, tone: 'good', values: dates.map((one) => known.get(one)?.inbound ?? 0) },
      ]}
    />
  )
}

/** The calendar day of a moment in the zone of the reader, as the API writes it. */
const localDate = (iso: string): string =>
  new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone: timeZone() }).format(
    new Date(iso),
  )
