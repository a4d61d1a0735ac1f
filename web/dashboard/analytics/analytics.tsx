import { timeZone } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { useQueryState } from '../../lib/router.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Card, Empty, Heading } from '../../ui/page.tsx'
import { Period, useDays } from '../../ui/period.tsx'
import { api } from '../api.ts'
import { Figures, VolumeChart } from './figures.tsx'
import { t } from './words.ts'

/** The domains of the organization, for a choice. */
export const useDomains = () =>
  useQuery('domains of figures', async () => {
    const { items } = await api.get('/domains/', {
      query: { per_page: 200, sort_by: 'domain', sort_dir: 'asc' },
    })
    return items
  })

async function read(domain: string, days: number) {
  const request = { params: { domain }, query: { days, timezone: timeZone() } }
  const [dashboard, volume, deliverability, engagement] = await Promise.all([
    api.get('/analytics/dashboard/{domain}', request),
    api.get('/analytics/email-volume/{domain}', request),
    api.get('/analytics/deliverability/{domain}', request),
    api.get('/analytics/engagement/{domain}', request),
  ])
  return { dashboard, volume, deliverability, engagement }
}

export function Analytics() {
  const [asked, change] = useQueryState('domain')
  const domains = useDomains()
  const domain = asked.domain || domains.data?.[0]?.domain
  const period = useDays()
  return (
    <>
      <Heading title={t.title}>
        {domain && (
          <>
            <select
              aria-label={t.domain}
              value={domain}
              onChange={(event) => change({ domain: event.currentTarget.value })}
            >
              {domains.data?.map((one) => (
                <option key={one.id} value={one.domain}>
                  {one.domain_unicode}
                </option>
              ))}
            </select>
            <Period {...period} />
            <a class="button" href={`/app/reports?domain=${encodeURIComponent(domain)}`}>
              {t.report}
            </a>
          </>
        )}
      </Heading>
      <Failed error={domains.error} again={domains.again} />
      {domains.data?.length === 0 && (
        <Empty
          title={t.none}
          action={
            <a class="button primary" href="/app/domains">
              {t.addDomain}
            </a>
          }
        >
          {t.noneHint}
        </Empty>
      )}
      {domain && <OfDomain domain={domain} days={period.days} />}
    </>
  )
}

function OfDomain({ domain, days }: { domain: string; days: number }) {
  const { data, error, again } = useQuery(`analytics ${domain} ${days}`, () => read(domain, days))
  if (!data) return <Failed error={error} again={again} />
  const { bounced, total_sent, ...deliverability } = data.deliverability
  const { delivered, ...engagement } = data.engagement
  const { attempts, failed } = data.dashboard
  return (
    <>
      <Failed error={error} again={again} />
      <Card title={t.delivery}>
        <Figures data={{ total_sent, delivered, bounced, failed, attempts }} />
      </Card>
      <Card title={t.volume}>
        <VolumeChart volume={data.volume.volume} days={days} end={data.volume.generated_at} />
      </Card>
      <Card title={t.deliverability}>
        <Figures data={deliverability} />
      </Card>
      <Card title={t.engagement}>
        <Figures data={{ ...engagement, unsubscribed: data.dashboard.unsubscribed }} />
        <p class="muted">{t.engagementHint}</p>
      </Card>
    </>
  )
}
