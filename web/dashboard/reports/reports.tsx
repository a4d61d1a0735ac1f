import type { Report } from '../../api/schema.ts'
import { timeZone } from '../../lib/format.ts'
import { go, useQueryState } from '../../lib/router.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Select } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Empty, Heading } from '../../ui/page.tsx'
import { t as common } from '../../ui/words.ts'
import { useDomains } from '../analytics/analytics.tsx'
import { t as analytics } from '../analytics/words.ts'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { Schedules } from './schedules.tsx'
import { t } from './words.ts'

const DAYS = [7, 30, 90, 365]

export function Reports() {
  const domains = useDomains()
  const choices = domains.data?.map(
    ({ domain, domain_unicode }) => [domain, domain_unicode] as const,
  )
  return (
    <>
      <Heading title={titles.reports} />
      <Failed error={domains.error} again={domains.again} />
      {choices?.length === 0 && (
        <Empty
          title={analytics.none}
          action={
            <a class="button primary" href="/app/domains">
              {analytics.addDomain}
            </a>
          }
        >
          {analytics.noneHint}
        </Empty>
      )}
      {choices && choices.length > 0 && (
        <>
          <NewReport domains={choices} />
          <Schedules domains={choices} />
        </>
      )}
    </>
  )
}

function NewReport({ domains }: { domains: readonly (readonly [string, string])[] }) {
  const [asked] = useQueryState('domain', 'type', 'days')
  return (
    <Card title={t.make}>
      <div class="narrow">
        <Form
          submit={t.make}
          onSubmit={async (values, idempotencyKey) => {
            const { report_id } = await api.post('/analytics/reports/generate', {
              body: {
                domain: values.text('domain'),
                report_type: values.text('report_type') as Report['report_type'],
                days: values.number('days'),
                timezone: timeZone(),
              },
              idempotencyKey,
            })
            go(`/app/reports/${report_id}`)
          }}
        >
          <p class="muted">{t.makeHint}</p>
          <Select label={t.domain} name="domain" value={asked.domain} options={domains} />
          <Select
            label={t.type}
            name="report_type"
            value={asked.type}
            options={Object.entries(t.types)}
          />
          <Select
            label={t.period}
            name="days"
            value={asked.days || '30'}
            options={DAYS.map((days) => [String(days), common.lastDays(days)] as const)}
          />
        </Form>
      </div>
    </Card>
  )
}
