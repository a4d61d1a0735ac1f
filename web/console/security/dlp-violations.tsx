import type { DlpViolation } from '../../api/schema.ts'
import { locale } from '../../lib/language.ts'
import { useQuery } from '../../lib/query.ts'
import { Chart } from '../../ui/chart.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Card, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { Severity } from './severity.tsx'
import { SecurityTabs } from './tabs.tsx'
import { t } from './words.ts'

const DAYS = 30
// The API names days; they are no moments, so no zone may shift them.
const DAY = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' })

const columns: Column<DlpViolation>[] = [
  { title: common.when, sort: 'created_at', cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: t.sender, sort: 'sender', cell: ({ sender }) => <Text>{sender}</Text> },
  { title: t.recipient, minor: true, cell: ({ recipient }) => <Text>{recipient ?? '–'}</Text> },
  { title: t.policy, minor: true, cell: ({ policy_name }) => <Text>{policy_name ?? '–'}</Text> },
  { title: t.found, cell: ({ violation_type }) => <code>{violation_type}</code> },
  {
    title: t.taken,
    minor: true,
    cell: ({ action_taken }) =>
      t.dlpActions[action_taken as keyof typeof t.dlpActions] ?? action_taken,
  },
  { title: t.severity, sort: 'severity', cell: ({ severity }) => <Severity value={severity} /> },
]

export function DlpViolations() {
  const summary = useQuery('security dlp-violations summary', () =>
    api.get('/security/dlp/violations/summary', { query: { days: DAYS } }),
  )
  const list = useList({
    name: 'security dlp-violations',
    sort: 'created_at',
    dir: 'desc',
    filters: ['severity', 'action', 'organization'],
    read: ({ q, page, per_page, sort, dir, filters }) =>
      api.get('/security/dlp/violations', {
        query: {
          q,
          page,
          per_page,
          sort_by: sort as 'created_at',
          sort_dir: dir,
          ...(filters.severity && { severity: filters.severity as 'low' }),
          ...(filters.action && { action_taken: filters.action as 'block' }),
          ...(filters.organization && { organization_id: filters.organization }),
        },
      }),
  })
  const days = summary.data?.series ?? []
  return (
    <>
      <Heading title={t.violations} />
      <SecurityTabs />
      {days.some(({ count }) => count > 0) && (
        <Card title={t.violationsByDay}>
          <Chart
            title={t.violationsByDay}
            height={120}
            labels={days.map(({ date }) => DAY.format(new Date(date)))}
            series={[{ name: t.violations, tone: 'warn', values: days.map(({ count }) => count) }]}
          />
        </Card>
      )}
      <SearchBar list={list} label={t.searchViolations}>
        <Choice
          label={t.anySeverity}
          value={list.asked.filters.severity}
          options={Object.entries(t.severities)}
          change={(severity) => list.set({ severity })}
        />
        <Choice
          label={t.anyAction}
          value={list.asked.filters.action}
          options={Object.entries(t.dlpActions)}
          change={(action) => list.set({ action })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.violations}
        columns={columns}
        rowKey={({ id }) => String(id)}
        empty={<Empty title={t.noViolations}>{t.noViolationsHint}</Empty>}
      />
    </>
  )
}
