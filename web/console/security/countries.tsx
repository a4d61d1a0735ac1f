import { useState } from 'preact/hooks'
import type { GeoPolicy, Get } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog, type Values } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Empty, Heading, Text } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { linesOf, OrganizationField, ReasonField } from '../fields.tsx'
import { OnOff, RuleMenu } from './switched.tsx'
import { SecurityTabs } from './tabs.tsx'
import { t } from './words.ts'

const columns: Column<GeoPolicy>[] = [
  { title: t.organization, cell: ({ organization_name }) => <Text>{organization_name}</Text> },
  {
    title: t.allowed,
    cell: ({ allowed_countries }) => allowed_countries.join(', ') || t.all,
  },
  {
    title: t.refused,
    minor: true,
    cell: ({ blocked_countries }) => blocked_countries.join(', ') || common.none,
  },
  {
    title: t.hours,
    minor: true,
    cell: ({ time_restrictions: hours }) =>
      hours ? `${hours.allowed_hours.start}–${hours.allowed_hours.end}` : t.all,
  },
  { title: t.action, minor: true, cell: ({ action }) => t.geoActions[action] },
  { title: t.state, cell: ({ enabled }) => <OnOff on={enabled} /> },
  { title: common.actions, quiet: true, cell: (policy) => <Act policy={policy} /> },
]

function Act({ policy }: { policy: GeoPolicy }) {
  const may = useMay()
  const [editing, setEditing] = useState(false)
  const params = { policy_id: policy.id }
  if (!may<'PUT /security/geo-policies/{policy_id}'>('operator')) return null
  return (
    <>
      <RuleMenu
        name={policy.organization_name}
        on={policy.enabled}
        edit={() => setEditing(true)}
        turn={(enabled, reason, idempotencyKey) =>
          api.put('/security/geo-policies/{policy_id}', {
            params,
            body: { enabled, reason },
            idempotencyKey,
          })
        }
        remove={(reason, idempotencyKey) =>
          api.delete('/security/geo-policies/{policy_id}', {
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

function bodyOf(values: Values) {
  const start = values.number('start')
  const end = values.number('end')
  return {
    allowed_countries: linesOf(values.text('allowed_countries')),
    blocked_countries: linesOf(values.text('blocked_countries')),
    time_restrictions:
      start === undefined || end === undefined
        ? {}
        : { allowed_hours: { start, end }, timezone_offset: values.number('zone') ?? 0 },
    action: values.text('action') as 'block',
    reason: values.text('reason'),
  }
}

/** Without a policy a new one is added. */
const PolicyForm = ({
  policy,
  organization,
  ...dialog
}: {
  policy?: GeoPolicy
  organization?: string | undefined
  open: boolean
  onClose(): void
}) => (
  <FormDialog
    {...dialog}
    title={policy ? policy.organization_name : t.addGeo}
    submit={policy ? common.save : t.addGeo}
    onSubmit={async (values, idempotencyKey) => {
      const body = bodyOf(values)
      if (policy) {
        await api.put('/security/geo-policies/{policy_id}', {
          params: { policy_id: policy.id },
          body,
          idempotencyKey,
        })
      } else {
        await api.post('/security/geo-policies', {
          body: { ...body, organization_id: values.text('organization_id') },
          idempotencyKey,
        })
      }
      forget('security')
      toast(policy ? t.changed : t.added)
    }}
  >
    {!policy && <OrganizationField value={organization} />}
    <Field
      label={t.allowed}
      name="allowed_countries"
      value={policy?.allowed_countries.join(', ')}
      hint={t.countriesHint}
      autocomplete="off"
    />
    <Field
      label={t.refused}
      name="blocked_countries"
      value={policy?.blocked_countries.join(', ')}
      autocomplete="off"
    />
    <div class="pair">
      <Field
        label={t.hoursFrom}
        name="start"
        type="number"
        min={0}
        max={23}
        value={policy?.time_restrictions?.allowed_hours.start}
        hint={t.hoursHint}
      />
      <Field
        label={t.hoursTo}
        name="end"
        type="number"
        min={0}
        max={23}
        value={policy?.time_restrictions?.allowed_hours.end}
      />
    </div>
    <Field
      label={t.zone}
      name="zone"
      type="number"
      min={-12}
      max={14}
      value={policy?.time_restrictions?.timezone_offset ?? 0}
    />
    <Select
      label={t.action}
      name="action"
      value={policy?.action ?? 'block'}
      options={Object.entries(t.geoActions)}
    />
    <ReasonField />
  </FormDialog>
)

export function Countries() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'security countries',
    sort: '',
    filters: ['action', 'organization'],
    read: ({ page, per_page, filters }) =>
      api.get('/security/geo-policies', {
        query: {
          page,
          per_page,
          ...(filters.action && { action: filters.action as 'block' }),
          ...(filters.organization && { organization_id: filters.organization }),
        },
      }),
  })
  const note = (list.data as Get['/security/geo-policies']['data'] | undefined)?.schema_note
  const add = may<'POST /security/geo-policies'>('operator') && (
    <AddButton onClick={() => setAdding(true)}>{t.addGeo}</AddButton>
  )
  return (
    <>
      <Heading title={t.countries}>{add}</Heading>
      <SecurityTabs />
      {note && (
        <p class="note warn" lang="en">
          {note}
        </p>
      )}
      <SearchBar list={list}>
        <Choice
          label={t.anyAction}
          value={list.asked.filters.action}
          options={Object.entries(t.geoActions)}
          change={(action) => list.set({ action })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.countries}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title={t.noGeo} action={add}>
            {t.noGeoHint}
          </Empty>
        }
      />
      <PolicyForm
        open={adding}
        onClose={() => setAdding(false)}
        organization={list.asked.filters.organization}
      />
    </>
  )
}
