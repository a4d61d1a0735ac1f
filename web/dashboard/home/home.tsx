import type { OrganizationOverview } from '../../api/schema.ts'
import { day, number, timeZone } from '../../lib/format.ts'
import { useQuery } from '../../lib/query.ts'
import { Chart } from '../../ui/chart.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Badge, Card, Empty, Facts, Heading, Usage } from '../../ui/page.tsx'
import { Period, useDays } from '../../ui/period.tsx'
import { api } from '../api.ts'
import { Notices, useNotices } from './notices.tsx'
import { t } from './words.ts'

export function Home() {
  const period = useDays()
  const { days } = period
  const me = useQuery('me', () => api.get('/auth/me'))
  const organization_id = me.data?.organization?.id ?? ''
  const { data, error, again } = useQuery(
    `overview ${organization_id} ${days}`,
    () =>
      api.get('/organizations/{organization_id}/overview', {
        params: { organization_id },
        query: { days, timezone: timeZone() },
      }),
    { everySeconds: 60 },
  )
  const lines = useNotices(data)
  return (
    <>
      <Heading
        title={t.title}
        badge={
          data && (
            <Badge tone={lines.length > 0 ? 'warn' : 'good'}>
              {lines.length > 0 ? t.check : t.works}
            </Badge>
          )
        }
      >
        <Period {...period} />
      </Heading>
      <Failed error={error} again={again} />
      {data && (
        <>
          <Figures overview={data} />
          <Notices lines={lines} />
          <Mail overview={data} />
        </>
      )}
    </>
  )
}

function Figures({ overview }: { overview: OrganizationOverview }) {
  const { totals, deferred_now, storage } = overview
  const share = (part: number) => (totals.sent > 0 ? t.ofSent(part / totals.sent) : undefined)
  const list = (status: string) => `/app/messages?status=${status}&direction=outbound`
  return (
    <Card>
      <Facts
        facts={[
          {
            name: t.delivered,
            value: number(totals.delivered),
            note: share(totals.delivered),
            to: list('delivered'),
          },
          {
            name: t.bounced,
            value: number(totals.bounced),
            note: share(totals.bounced),
            to: list('bounced'),
          },
          {
            name: t.received,
            value: number(totals.received),
            to: '/app/messages?direction=inbound',
          },
          {
            name: t.waiting,
            value: number(deferred_now),
            note: deferred_now > 0 ? t.waitingNote : undefined,
            to: list('deferred'),
          },
          { name: t.domains, value: number(overview.domains), to: '/app/domains' },
          { name: t.mailboxes, value: number(overview.mailboxes), to: '/app/mailboxes' },
          {
            name: t.storage,
            value: (
              <Usage used={storage.used_bytes} limit={storage.quota_bytes} label={t.storage} />
            ),
          },
        ]}
      />
    </Card>
  )
}

function Mail({ overview: { days, totals } }: { overview: OrganizationOverview }) {
  const values = (name: keyof typeof totals) => days.map((one) => one[name])
  const isEmpty = totals.sent + totals.received === 0
  return (
    <Card title={t.mail}>
      {isEmpty ? (
        <Empty
          title={t.noMail}
          action={
            <div class="actions">
              <a class="button" href="/app/mailboxes">
                {t.mailboxes}
              </a>
              <a class="button" href="/app/smtp-credentials">
                {t.credentials}
              </a>
            </div>
          }
        >
          {t.noMailHint}
        </Empty>
      ) : (
        <Chart
          title={t.mail}
          labels={days.map(({ date }) => day(date))}
          series={[
            { name: t.delivered, tone: 'good', values: values('delivered') },
            { name: t.received, tone: 'accent', values: values('received') },
            { name: t.deferred, tone: 'warn', values: values('deferred') },
            { name: t.bounced, tone: 'bad', values: values('bounced') },
          ]}
        />
      )}
    </Card>
  )
}
