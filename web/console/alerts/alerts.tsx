import type { AlertEvent } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time, type Tone } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

const REFRESH_SECONDS = 30

const SEVERITIES: Record<AlertEvent['severity'], Tone> = {
  critical: 'bad',
  warning: 'warn',
  info: 'info',
}

export const Severity = ({ severity }: Pick<AlertEvent, 'severity'>) => (
  <Badge tone={SEVERITIES[severity]}>{t.severities[severity]}</Badge>
)

const PAGES = [
  ['/console/alerts', t.title],
  ['/console/alerts/rules', t.rules],
  ['/console/alerts/channels', t.channels],
] as const

/** Links between the three pages of alerts. */
export const AlertPages = () => <Tabs label={t.pages} tabs={PAGES} />

const columns: Column<AlertEvent>[] = [
  {
    title: t.state,
    cell: ({ state }) => (
      <Badge tone={state === 'firing' ? 'bad' : 'good'}>{t.states[state]}</Badge>
    ),
  },
  {
    title: t.rule,
    cell: ({ rule_name, message }) => (
      <>
        <Text>{rule_name}</Text>
        {message && (
          <small class="under">
            <Text>{message}</Text>
          </small>
        )}
      </>
    ),
  },
  { title: t.severity, minor: true, cell: (event) => <Severity {...event} /> },
  {
    title: t.value,
    number: true,
    minor: true,
    cell: ({ value, threshold }) =>
      `${value === null ? '–' : number(value)} / ${number(threshold)}`,
  },
  { title: t.began, minor: true, cell: ({ created_at }) => <Time iso={created_at} /> },
  {
    title: t.ended,
    minor: true,
    cell: ({ resolved_at }) => (resolved_at ? <Time iso={resolved_at} /> : '–'),
  },
]

export function Alerts() {
  const list = useList<AlertEvent, 'state' | 'severity' | 'rule_id'>({
    name: 'alerts',
    sort: '',
    filters: ['state', 'severity', 'rule_id'],
    everySeconds: REFRESH_SECONDS,
    read: ({ page, per_page, filters }) =>
      api.get('/platform/alerts/history', {
        query: {
          page,
          per_page,
          rule_id: filters.rule_id,
          state: filters.state as AlertEvent['state'] | undefined,
          severity: filters.severity as AlertEvent['severity'] | undefined,
        },
      }),
  })
  const { filters } = list.asked
  return (
    <>
      <Heading title={t.title} />
      <AlertPages />
      <SearchBar list={list}>
        <Choice
          label={t.anyState}
          value={filters.state}
          options={Object.entries(t.states)}
          change={(state) => list.set({ state })}
        />
        <Choice
          label={t.anySeverity}
          value={filters.severity}
          options={Object.entries(t.severities)}
          change={(severity) => list.set({ severity })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => String(id)}
        empty={
          <Empty
            title={t.none}
            action={
              <a class="button" href="/console/alerts/rules">
                {t.toRules}
              </a>
            }
          >
            {t.noneHint}
          </Empty>
        }
      />
    </>
  )
}
