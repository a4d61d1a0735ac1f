import { useState } from 'preact/hooks'
import type { AlertRule } from '../../api/schema.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { CheckBox, Field, Select } from '../../ui/field.tsx'
import { FormDialog, type Values } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

const COMPARATORS = (['>', '>=', '<', '<=', '=='] as const).map((one) => [one, one] as const)
const CHANNEL = 'channel-'

/** Adds a rule, or changes the given one. */
export function RuleDialog({
  rule,
  ...dialog
}: {
  rule?: AlertRule
  open: boolean
  onClose(): void
}) {
  const [metric, setMetric] = useState<string | undefined>(rule?.metric)
  const metrics = useQuery('alert-metrics', () => api.get('/platform/alerts/metrics')).data?.items
  const channels = useQuery('alert-channels', () => api.get('/platform/alerts/channels')).data
    ?.items
  const described = metrics?.find((one) => one.metric === metric) ?? metrics?.[0]
  const bodyOf = (values: Values) => ({
    name: values.text('name'),
    description: values.optional('description'),
    metric: values.text('metric') as AlertRule['metric'],
    comparator: values.text('comparator') as AlertRule['comparator'],
    threshold: values.number('threshold') ?? 0,
    for_seconds: values.number('for_seconds') ?? 0,
    severity: values.text('severity') as AlertRule['severity'],
    channel_ids: (channels ?? []).map(({ id }) => id).filter((id) => values.checked(CHANNEL + id)),
  })
  return (
    <FormDialog
      {...dialog}
      title={rule ? `${t.editRule}: ${rule.name}` : t.addRule}
      submit={rule ? common.save : t.addRule}
      onSubmit={async (values, idempotencyKey) => {
        const body = bodyOf(values)
        if (rule) {
          await api.put('/platform/alerts/rules/{rule_id}', {
            params: { rule_id: rule.id },
            body,
            idempotencyKey,
          })
        } else await api.post('/platform/alerts/rules', { body, idempotencyKey })
        forget('alert-rules')
        toast(rule ? t.ruleChanged(body.name) : t.ruleAdded(body.name))
      }}
    >
      <Field label={t.name} name="name" required autocomplete="off" value={rule?.name} />
      <Field
        label={t.description}
        name="description"
        autocomplete="off"
        value={rule?.description ?? ''}
      />
      <Select
        label={t.metric}
        name="metric"
        value={rule?.metric}
        hint={<span lang="en">{described?.description}</span>}
        onChange={setMetric}
        options={(metrics ?? []).map(({ metric, unit }) => [
          metric,
          `${t.metrics[metric]} (${unit})`,
        ])}
      />
      <div class="pair">
        <Select
          label={t.comparator}
          name="comparator"
          options={COMPARATORS}
          value={rule?.comparator}
        />
        <Field
          label={t.threshold}
          name="threshold"
          type="number"
          step="any"
          required
          value={rule?.threshold}
        />
      </div>
      <div class="pair">
        <Field
          label={t.forSeconds}
          name="for_seconds"
          type="number"
          min={0}
          max={86_400}
          hint={t.forHint}
          value={rule?.for_seconds ?? 0}
        />
        <Select
          label={t.severity}
          name="severity"
          options={Object.entries(t.severities)}
          value={rule?.severity ?? 'warning'}
        />
      </div>
      <fieldset class="stack">
        <legend>{t.notify}</legend>
        {channels?.length === 0 && <p class="muted">{t.noChannels}</p>}
        {channels?.map(({ id, name }) => (
          <CheckBox
            key={id}
            label={name}
            name={CHANNEL + id}
            checked={rule?.channel_ids.includes(id) ?? false}
          />
        ))}
      </fieldset>
    </FormDialog>
  )
}
