import { useState } from 'preact/hooks'
import type { DlpPolicy } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Field, Select, TextArea } from '../../ui/field.tsx'
import { FormDialog, type Values } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Empty, Heading, Text } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { OrganizationField, ReasonField } from '../fields.tsx'
import { Severity } from './severity.tsx'
import { OnOff, RuleMenu } from './switched.tsx'
import { SecurityTabs } from './tabs.tsx'
import { t } from './words.ts'

const columns: Column<DlpPolicy>[] = [
  { title: t.name, sort: 'name', cell: ({ name }) => <Text>{name}</Text> },
  {
    title: t.organization,
    minor: true,
    cell: ({ organization_name }) => <Text>{organization_name}</Text>,
  },
  { title: t.type, minor: true, cell: ({ policy_type }) => t.policyTypes[policy_type] },
  { title: t.action, cell: ({ action }) => t.dlpActions[action] },
  { title: t.direction, minor: true, cell: ({ apply_to }) => t.directions[apply_to] },
  { title: t.severity, sort: 'severity', cell: ({ severity }) => <Severity value={severity} /> },
  { title: t.state, cell: ({ enabled }) => <OnOff on={enabled} /> },
  { title: common.actions, quiet: true, cell: (policy) => <Act policy={policy} /> },
]

function Act({ policy }: { policy: DlpPolicy }) {
  const may = useMay()
  const [editing, setEditing] = useState(false)
  const params = { policy_id: policy.id }
  if (!may<'PUT /security/dlp/policies/{policy_id}'>('admin')) return null
  return (
    <>
      <RuleMenu
        name={policy.name}
        on={policy.enabled}
        hint={t.removePolicyHint}
        edit={() => setEditing(true)}
        turn={(enabled, reason, idempotencyKey) =>
          api.put('/security/dlp/policies/{policy_id}', {
            params,
            body: { enabled, reason },
            idempotencyKey,
          })
        }
        remove={(reason, idempotencyKey) =>
          api.delete('/security/dlp/policies/{policy_id}', {
            params,
            body: { reason },
            idempotencyKey,
          })
        }
      />
      <PolicyForm open={editing} onClose={() => setEditing(false)} policy={policy} />
    </>
  )
}

const bodyOf = (values: Values) => ({
  name: values.text('name'),
  description: values.optional('description'),
  policy_type: values.text('policy_type') as DlpPolicy['policy_type'],
  patterns: values
    .text('patterns')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean),
  action: values.text('action') as DlpPolicy['action'],
  severity: values.text('severity') as DlpPolicy['severity'],
  apply_to: values.text('apply_to') as DlpPolicy['apply_to'],
  reason: values.text('reason'),
})

/** Without a policy a new one is added. */
const PolicyForm = ({
  policy,
  ...dialog
}: {
  policy?: DlpPolicy
  open: boolean
  onClose(): void
}) => (
  <FormDialog
    {...dialog}
    title={policy ? policy.name : t.addPolicy}
    submit={policy ? common.save : t.addPolicy}
    onSubmit={async (values, idempotencyKey) => {
      const body = bodyOf(values)
      if (policy) {
        await api.put('/security/dlp/policies/{policy_id}', {
          params: { policy_id: policy.id },
          body,
          idempotencyKey,
        })
      } else {
        await api.post('/security/dlp/policies', {
          body: { ...body, organization_id: values.text('organization_id') },
          idempotencyKey,
        })
      }
      forget('security')
      toast(policy ? t.changed : t.added)
    }}
  >
    {!policy && <OrganizationField />}
    <Field label={t.name} name="name" value={policy?.name} required autocomplete="off" />
    <Field
      label={t.description}
      name="description"
      value={policy?.description ?? ''}
      autocomplete="off"
    />
    <Select
      label={t.type}
      name="policy_type"
      value={policy?.policy_type ?? 'pii'}
      options={Object.entries(t.policyTypes)}
    />
    <TextArea
      label={t.patterns}
      name="patterns"
      value={policy?.patterns.join('\n') ?? ''}
      hint={t.patternsHint}
      required
    />
    <div class="pair">
      <Select
        label={t.action}
        name="action"
        value={policy?.action ?? 'quarantine'}
        options={Object.entries(t.dlpActions)}
      />
      <Select
        label={t.severity}
        name="severity"
        value={policy?.severity ?? 'medium'}
        options={Object.entries(t.severities)}
      />
    </div>
    <Select
      label={t.direction}
      name="apply_to"
      value={policy?.apply_to ?? 'outbound'}
      options={Object.entries(t.directions)}
    />
    <ReasonField />
  </FormDialog>
)

export function DlpPolicies() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'security dlp-policies',
    sort: 'name',
    filters: ['severity', 'organization'],
    read: ({ q, page, per_page, sort, dir, filters }) =>
      api.get('/security/dlp/policies', {
        query: {
          q,
          page,
          per_page,
          sort_by: sort as 'name',
          sort_dir: dir,
          ...(filters.severity && { severity: filters.severity as 'low' }),
          ...(filters.organization && { organization_id: filters.organization }),
        },
      }),
  })
  const add = may<'POST /security/dlp/policies'>('admin') && (
    <AddButton onClick={() => setAdding(true)}>{t.addPolicy}</AddButton>
  )
  return (
    <>
      <Heading title={t.policies}>{add}</Heading>
      <SecurityTabs />
      <SearchBar list={list} label={t.searchPolicies}>
        <Choice
          label={t.anySeverity}
          value={list.asked.filters.severity}
          options={Object.entries(t.severities)}
          change={(severity) => list.set({ severity })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.policies}
        columns={columns}
        rowKey={({ id }) => String(id)}
        empty={
          <Empty title={t.noPolicies} action={add}>
            {t.noPoliciesHint}
          </Empty>
        }
      />
      <PolicyForm open={adding} onClose={() => setAdding(false)} />
    </>
  )
}
