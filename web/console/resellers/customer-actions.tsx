import { useState } from 'preact/hooks'
import type { SubOrganization } from '../../api/schema.ts'
import { forget } from '../../lib/query.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog, type Values } from '../../ui/form.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { OrganizationField } from '../fields.tsx'
import { t } from './words.ts'

const GIB = 1024 ** 3
const USUAL = { max_users: 50, max_domains: 5, storage_limit: 10 * GIB, plan_name: 'starter' }

type Plan = Partial<SubOrganization['plan']>

const PlanFields = ({ plan = USUAL }: { plan?: Plan }) => (
  <>
    <Field
      label={t.planName}
      name="plan_name"
      required
      maxLength={100}
      value={plan.plan_name ?? ''}
    />
    <div class="pair">
      <Count label={t.maxMailboxes} name="max_users" value={plan.max_users} />
      <Count label={t.maxDomains} name="max_domains" value={plan.max_domains} />
      <Count
        label={t.storageLimit}
        name="storage_limit"
        value={plan.storage_limit && plan.storage_limit / GIB}
        step="any"
      />
    </div>
  </>
)

const Count = ({
  value,
  ...field
}: {
  label: string
  name: string
  value: number | null | undefined
  step?: 'any'
}) => <Field {...field} type="number" min={0} value={value ?? undefined} />

/** A limit that was left empty stays as it is. */
function planOf(values: Values) {
  const counted = (name: string, unit = 1) => {
    const value = values.number(name)
    return value === undefined ? {} : { [name]: Math.round(value * unit) }
  }
  return {
    plan_name: values.text('plan_name'),
    ...counted('max_users'),
    ...counted('max_domains'),
    ...counted('storage_limit', GIB),
  }
}

function changed(text: string) {
  forget('reseller')
  toast(text)
}

export const AddCustomer = ({
  reseller,
  ...dialog
}: {
  reseller: string | undefined
  open: boolean
  onClose(): void
}) => (
  <FormDialog
    {...dialog}
    title={t.add}
    submit={t.add}
    onSubmit={async (values, idempotencyKey) => {
      const name = values.text('name')
      await api.post('/reseller/sub-organizations', {
        body: {
          parent_org_id: values.text('parent_org_id'),
          name,
          admin_email: values.optional('admin_email'),
          admin_name: values.optional('admin_name'),
          ...planOf(values),
        },
        idempotencyKey,
      })
      changed(t.added(name))
    }}
  >
    <OrganizationField name="parent_org_id" label={t.reseller} value={reseller} />
    <Field label={t.name} name="name" required autocomplete="off" />
    <Field label={t.adminName} name="admin_name" autocomplete="off" />
    <Field label={t.adminEmail} name="admin_email" type="email" autocomplete="off" />
    <PlanFields />
  </FormDialog>
)

export function CustomerActions({ customer }: { customer: SubOrganization }) {
  const [open, setOpen] = useState<'plan' | 'suspend'>()
  const { id, name, status, plan } = customer
  const dialog = (which: typeof open) => ({
    open: open === which,
    onClose: () => setOpen(undefined),
  })
  const activate = async () => {
    await api.put('/organizations/{organization_id}', {
      params: { organization_id: id },
      body: { active: true },
    })
    changed(t.changed(name))
  }
  return (
    <>
      <Menu name={common.actionsFor(name)}>
        <MenuItem onClick={() => setOpen('plan')}>{t.changePlan}</MenuItem>
        {status === 'active' ? (
          <MenuItem danger onClick={() => setOpen('suspend')}>
            {t.suspend}
          </MenuItem>
        ) : (
          <MenuItem onClick={activate}>{t.activate}</MenuItem>
        )}
      </Menu>
      <FormDialog
        {...dialog('plan')}
        title={t.changeTitle(name)}
        submit={common.save}
        onSubmit={async (values, idempotencyKey) => {
          await api.put('/reseller/sub-organizations/{org_id}/plan', {
            params: { org_id: id },
            body: planOf(values),
            idempotencyKey,
          })
          changed(t.changed(name))
        }}
      >
        <PlanFields plan={plan} />
      </FormDialog>
      <Confirm
        {...dialog('suspend')}
        danger
        title={t.suspendTitle(name)}
        submit={t.suspend}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/reseller/sub-organizations/{org_id}', {
            params: { org_id: id },
            idempotencyKey,
          })
          forget('reseller')
          toast(t.changed(name), activate)
        }}
      >
        <p>{t.suspendHint}</p>
      </Confirm>
    </>
  )
}
