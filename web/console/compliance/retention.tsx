import { useState } from 'preact/hooks'
import type { RetentionPolicy } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { ConfirmByNameWithReason, ConfirmWithReason } from '../../ui/confirm.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failed } from '../../ui/failed.tsx'
import { CheckBox, Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { ListTable, useList } from '../../ui/list.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Badge, Empty, Facts, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { OrganizationField, ReasonField } from '../fields.tsx'
import { t as titles } from '../titles.words.ts'
import { ComplianceTabs } from './tabs.tsx'
import { t } from './words.ts'

const YEAR_DAYS = 365
const QUARTER_DAYS = 90

const columns: Column<RetentionPolicy>[] = [
  {
    title: t.organization,
    cell: ({ organization_id }) => (
      <a href={`/console/organizations/${encodeURIComponent(organization_id)}`}>
        <Text>{organization_id}</Text>
      </a>
    ),
  },
  { title: t.days, number: true, cell: ({ retention_days }) => number(retention_days) },
  {
    title: t.archiveDays,
    number: true,
    minor: true,
    cell: ({ auto_archive, archive_after_days }) =>
      auto_archive ? number(archive_after_days) : t.off,
  },
  {
    title: t.state,
    cell: ({ status }) => (
      <Badge tone={status === 'in_force' ? 'good' : 'info'}>
        {status === 'in_force' ? t.inForce : t.scheduled}
      </Badge>
    ),
  },
  {
    title: t.from,
    minor: true,
    cell: ({ applies_from }) => <Time iso={applies_from} form="date" />,
  },
  { title: common.actions, quiet: true, cell: (policy) => <Act policy={policy} /> },
]

type Open = 'edit' | 'try' | 'cancel' | 'remove'

function Act({ policy }: { policy: RetentionPolicy }) {
  const may = useMay()
  const [open, setOpen] = useState<Open>()
  const dialog = (name: Open) => ({ open: open === name, onClose: () => setOpen(undefined) })
  const { organization_id } = policy
  const params = { organization_id }
  if (!may<'PUT /compliance/retention-policies/{organization_id}'>('admin')) return null
  return (
    <>
      <Menu name={common.actionsFor(organization_id)}>
        <MenuItem onClick={() => setOpen('try')}>{t.tryIt}</MenuItem>
        <MenuItem onClick={() => setOpen('edit')}>{t.editPolicy}</MenuItem>
        {policy.status === 'scheduled' && (
          <MenuItem onClick={() => setOpen('cancel')}>{t.cancelChange}</MenuItem>
        )}
        <MenuItem danger onClick={() => setOpen('remove')}>
          {t.removePolicy}
        </MenuItem>
      </Menu>
      <PolicyForm {...dialog('edit')} policy={policy} />
      <Dialog {...dialog('try')} title={t.tryTitle(organization_id)}>
        <DryRun organization={organization_id} />
      </Dialog>
      <ConfirmWithReason
        {...dialog('cancel')}
        kind="retention"
        title={t.cancelChange}
        submit={t.cancelChange}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/compliance/retention-policies/{organization_id}/cancel', {
            params,
            body: { reason },
            idempotencyKey,
          })
          forget('compliance')
          toast(t.changeCancelled)
        }}
      >
        <p>{t.cancelChangeHint}</p>
      </ConfirmWithReason>
      <ConfirmByNameWithReason
        name={organization_id}
        {...dialog('remove')}
        kind="retention"
        title={t.removeTitle}
        submit={t.removePolicy}
        onConfirm={async (reason, idempotencyKey) => {
          await api.delete('/compliance/retention-policies/{organization_id}', {
            params,
            query: { reason },
            idempotencyKey,
          })
          forget('compliance')
          toast(t.removed)
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByNameWithReason>
    </>
  )
}

/** Counts what a run would do today; nothing is changed. */
function DryRun({ organization }: { organization: string }) {
  const { data, error, again } = useQuery(`compliance preview ${organization}`, () =>
    api.get('/compliance/retention-policies/{organization_id}/preview', {
      params: { organization_id: organization },
    }),
  )
  return (
    <div class="stack">
      <p class="prose">{t.tryHint}</p>
      <Failed error={error} again={again} />
      {!data && !error && <p class="muted">{common.loading}</p>}
      {data?.on_hold && <p class="note warn">{t.holdKeeps}</p>}
      {data && (
        <Facts
          facts={[
            { name: t.deleted, value: number(data.counts.messages_deleted) },
            { name: t.archived, value: number(data.counts.messages_archived) },
            { name: t.counted, value: number(data.mailboxes_counted) },
            { name: t.held, value: number(data.mailboxes_held) },
          ]}
        />
      )}
      {data?.next_after && <p class="hint">{t.more}</p>}
    </div>
  )
}

const PolicyForm = ({
  policy,
  ...dialog
}: {
  policy?: RetentionPolicy
  open: boolean
  onClose(): void
}) => (
  <FormDialog
    {...dialog}
    title={t.addPolicy}
    submit={common.save}
    onSubmit={async (values, idempotencyKey) => {
      await api.put('/compliance/retention-policies/{organization_id}', {
        params: { organization_id: policy?.organization_id ?? values.text('organization_id') },
        body: {
          retention_days: values.number('retention_days') ?? YEAR_DAYS,
          auto_archive: values.checked('auto_archive'),
          archive_after_days: values.number('archive_after_days') ?? QUARTER_DAYS,
          reason: values.text('reason'),
        },
        idempotencyKey,
      })
      forget('compliance')
      toast(t.saved)
    }}
  >
    {!policy && <OrganizationField />}
    <Field
      label={t.days}
      name="retention_days"
      type="number"
      min={1}
      required
      value={policy?.retention_days ?? YEAR_DAYS}
    />
    <CheckBox label={t.archive} name="auto_archive" checked={policy?.auto_archive ?? false} />
    <Field
      label={t.archiveDays}
      name="archive_after_days"
      type="number"
      min={1}
      value={policy?.archive_after_days ?? QUARTER_DAYS}
    />
    <ReasonField />
  </FormDialog>
)

export function Retention() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'compliance retention',
    sort: '',
    read: ({ page, per_page }) =>
      api.get('/compliance/retention-policies', { query: { page, per_page } }),
  })
  const add = may<'PUT /compliance/retention-policies/{organization_id}'>('admin') && (
    <AddButton onClick={() => setAdding(true)}>{t.addPolicy}</AddButton>
  )
  return (
    <>
      <Heading title={titles.retention}>{add}</Heading>
      <ComplianceTabs />
      <ListTable
        list={list}
        caption={titles.retention}
        columns={columns}
        rowKey={({ id }) => id}
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
