import { useState } from 'preact/hooks'
import type { IpRule } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { CheckBox, Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { OrganizationField, ReasonField } from '../fields.tsx'
import { OnOff, RuleMenu } from './switched.tsx'
import { SecurityTabs } from './tabs.tsx'
import { t } from './words.ts'

const PLACES = ['smtp', 'mailbox', 'api'] as const

const columns: Column<IpRule>[] = [
  {
    title: t.ruleType,
    cell: ({ rule_type }) => (
      <Badge tone={rule_type === 'whitelist' ? 'good' : 'bad'}>{t.types[rule_type]}</Badge>
    ),
  },
  { title: t.network, sort: 'ip_address', cell: ({ ip_address }) => <code>{ip_address}</code> },
  { title: t.organization, cell: ({ organization_name }) => <Text>{organization_name}</Text> },
  {
    title: t.applies,
    minor: true,
    cell: ({ applies_to }) => applies_to.map((one) => t.appliesTo[one]).join(', '),
  },
  { title: t.description, minor: true, cell: ({ description }) => <Text>{description}</Text> },
  { title: t.state, cell: ({ active }) => <OnOff on={active} /> },
  { title: common.actions, quiet: true, cell: (rule) => <Act rule={rule} /> },
]

function Act({ rule }: { rule: IpRule }) {
  const may = useMay()
  const params = { rule_id: rule.id }
  if (!may<'PUT /security/ip-rules/{rule_id}'>('operator')) return null
  return (
    <RuleMenu
      name={rule.ip_address}
      on={rule.active}
      turn={(active, reason, idempotencyKey) =>
        api.put('/security/ip-rules/{rule_id}', {
          params,
          body: { active, reason },
          idempotencyKey,
        })
      }
      remove={(reason, idempotencyKey) =>
        api.delete('/security/ip-rules/{rule_id}', { params, body: { reason }, idempotencyKey })
      }
    />
  )
}

export function IpRules() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'security ip-rules',
    sort: 'created_at',
    dir: 'desc',
    filters: ['rule_type', 'organization'],
    read: ({ q, page, per_page, sort, dir, filters }) =>
      api.get('/security/ip-rules', {
        query: {
          q,
          page,
          per_page,
          sort_by: sort as 'created_at',
          sort_dir: dir,
          ...(filters.rule_type && { rule_type: filters.rule_type as 'whitelist' }),
          ...(filters.organization && { organization_id: filters.organization }),
        },
      }),
  })
  const add = may<'POST /security/ip-rules'>('operator') && (
    <AddButton onClick={() => setAdding(true)}>{t.addRule}</AddButton>
  )
  return (
    <>
      <Heading title={t.ipRules}>{add}</Heading>
      <SecurityTabs />
      <SearchBar list={list} label={t.searchRules}>
        <Choice
          label={t.anyType}
          value={list.asked.filters.rule_type}
          options={Object.entries(t.types)}
          change={(rule_type) => list.set({ rule_type })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.ipRules}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title={t.noRules} action={add}>
            {t.noRulesHint}
          </Empty>
        }
      />
      <FormDialog
        title={t.addRule}
        open={adding}
        onClose={() => setAdding(false)}
        submit={t.addRule}
        onSubmit={async (values, idempotencyKey) => {
          await api.post('/security/ip-rules', {
            body: {
              organization_id: values.text('organization_id'),
              rule_type: values.text('rule_type') as 'whitelist',
              ip_address: values.text('ip_address'),
              applies_to: PLACES.filter((place) => values.checked(place)),
              description: values.optional('description'),
              reason: values.text('reason'),
            },
            idempotencyKey,
          })
          forget('security')
          toast(t.added)
        }}
      >
        <OrganizationField value={list.asked.filters.organization} />
        <Select
          label={t.ruleType}
          name="rule_type"
          value="blacklist"
          options={Object.entries(t.types)}
          hint={t.whitelistHint}
        />
        <Field
          label={t.network}
          name="ip_address"
          required
          hint={t.networkHint}
          autocomplete="off"
        />
        {PLACES.map((place) => (
          <CheckBox key={place} label={t.appliesTo[place]} name={place} checked />
        ))}
        <Field label={t.description} name="description" autocomplete="off" />
        <ReasonField />
      </FormDialog>
    </>
  )
}
