import { useState } from 'preact/hooks'
import type { AlertRule } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useAction } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { AlertPages, Severity } from './alerts.tsx'
import { RuleActions } from './rule-actions.tsx'
import { RuleDialog } from './rule-dialog.tsx'
import { t } from './words.ts'

const columns: Column<AlertRule>[] = [
  {
    title: t.name,
    sort: 'name',
    cell: ({ id, name, description }) => (
      <>
        <a href={`/console/alerts?rule_id=${id}`}>
          <Text>{name}</Text>
        </a>
        {description && (
          <small class="under">
            <Text>{description}</Text>
          </small>
        )}
      </>
    ),
  },
  { title: t.condition, minor: true, cell: (rule) => conditionOf(rule) },
  { title: t.severity, sort: 'severity', minor: true, cell: (rule) => <Severity {...rule} /> },
  {
    title: t.enabled,
    cell: ({ enabled }) => <Badge tone={enabled ? 'good' : ''}>{enabled ? t.on : t.off}</Badge>,
  },
  {
    title: t.lastFired,
    sort: 'last_fired_at',
    minor: true,
    cell: ({ last_fired_at }) => <Time iso={last_fired_at} />,
  },
  { title: common.actions, quiet: true, cell: (rule) => <RuleActions rule={rule} /> },
]

const conditionOf = ({ metric, comparator, threshold, for_seconds }: AlertRule): string =>
  [
    t.metrics[metric],
    comparator,
    number(threshold),
    for_seconds > 0 ? t.lasting(number(for_seconds)) : '',
  ].join(' ')

export function Rules() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList<AlertRule, 'severity' | 'metric'>({
    name: 'alert-rules',
    sort: 'name',
    filters: ['severity', 'metric'],
    read: ({ q, page, per_page, sort, dir, filters }) =>
      api.get('/platform/alerts/rules', {
        query: {
          q,
          page,
          per_page,
          sort: sort as 'name',
          direction: dir,
          severity: filters.severity as AlertRule['severity'] | undefined,
          metric: filters.metric as AlertRule['metric'] | undefined,
        },
      }),
  })
  const adopt = useAction(async (idempotencyKey) => {
    const { items } = await api.post('/platform/alerts/rules/defaults', {
      body: {},
      idempotencyKey,
    })
    forget('alert-rules')
    toast(t.defaultsAdded(items.length))
  })
  const add = may<'POST /platform/alerts/rules'>('operator') && (
    <AddButton onClick={() => setAdding(true)}>{t.addRule}</AddButton>
  )
  const defaults = may<'POST /platform/alerts/rules/defaults'>('operator') && (
    <button type="button" disabled={adopt.busy} onClick={() => void adopt.run()}>
      {t.addDefaults}
    </button>
  )
  return (
    <>
      <Heading title={t.rules}>
        {defaults}
        {add}
      </Heading>
      <Failed error={adopt.error} />
      <AlertPages />
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.anyMetric}
          value={list.asked.filters.metric}
          options={Object.entries(t.metrics)}
          change={(metric) => list.set({ metric })}
        />
        <Choice
          label={t.anySeverity}
          value={list.asked.filters.severity}
          options={Object.entries(t.severities)}
          change={(severity) => list.set({ severity })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.rules}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title={t.noRules} action={add}>
            {t.noRulesHint}
          </Empty>
        }
      />
      <RuleDialog open={adding} onClose={() => setAdding(false)} />
    </>
  )
}
