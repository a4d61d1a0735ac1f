import { useState } from 'preact/hooks'
import type { OrganizationDetail } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { go } from '../../lib/router.tsx'
import { ConfirmByName, ConfirmWithReason } from '../../ui/confirm.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Facts, Text, Time, Usage } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { Actions } from '../organizations/organizations.tsx'
import { Frame } from './frame.tsx'
import { t } from './words.ts'

interface Props {
  organization: OrganizationDetail
}

export const Organization = () => (
  <Frame
    actions={(organization) => (
      <>
        <Actions organization={organization} />
        <Remove organization={organization} />
      </>
    )}
  >
    {(organization) => (
      <>
        <Figures organization={organization} />
        <Settings organization={organization} />
        <Limits organization={organization} />
      </>
    )}
  </Frame>
)

function Figures({ organization }: Props) {
  const base = `/console/organizations/${encodeURIComponent(organization.id)}`
  const { total_storage_used, total_quota } = organization.storage_statistics
  return (
    <Card>
      <Facts
        facts={[
          { name: t.domains, value: number(organization.domain_count), to: `${base}/domains` },
          {
            name: t.mailboxes,
            value: number(organization.email_account_count),
            to: `${base}/mailboxes`,
          },
          {
            name: t.storage,
            value: (
              <Usage
                used={total_storage_used}
                limit={total_quota}
                label={t.storageOf(organization.name)}
              />
            ),
          },
          { name: t.contact, value: <Text>{organization.admin_email ?? '–'}</Text> },
          { name: t.profile, value: organization.sending_profile },
          { name: t.created, value: <Time iso={organization.created_at} form="date" /> },
          { name: t.id, value: <code>{organization.id}</code> },
        ]}
      />
    </Card>
  )
}

function Settings({ organization }: Props) {
  const may = useMay()
  if (!may<'PUT /organizations/{organization_id}'>('write')) return null
  return (
    <Card title={t.settings}>
      <div class="narrow">
        <Form
          submit={common.save}
          onSubmit={async (values, idempotencyKey) => {
            await api.put('/organizations/{organization_id}', {
              params: { organization_id: organization.id },
              body: {
                name: values.text('name'),
                description: values.optional('description'),
                admin_email: values.optional('admin_email'),
              },
              idempotencyKey,
            })
            forget('organization')
            toast(t.saved)
          }}
        >
          <Field label={t.name} name="name" value={organization.name} required autocomplete="off" />
          <Field
            label={t.adminEmail}
            name="admin_email"
            type="email"
            value={organization.admin_email ?? ''}
            autocomplete="off"
          />
          <TextArea
            label={t.description}
            name="description"
            rows={2}
            value={organization.description ?? ''}
          />
        </Form>
      </div>
    </Card>
  )
}

function Limits({ organization }: Props) {
  const may = useMay()
  const [clearing, setClearing] = useState(false)
  if (!may<'PUT /organizations/{organization_id}/quotas'>('admin')) return null
  const params = { organization_id: organization.id }
  const { storage_quota_mb: megabytes } = organization.storage_quotas
  return (
    <Card
      title={t.limits}
      actions={
        organization.quota_override && (
          <button type="button" class="small" onClick={() => setClearing(true)}>
            {t.clear}
          </button>
        )
      }
    >
      <div class="narrow">
        {organization.quota_override && <p class="note">{t.overridden}</p>}
        <Form
          submit={common.save}
          onSubmit={async (values, idempotencyKey) => {
            const { storage_quota_mb: _, ...others } = organization.storage_quotas
            const limit = values.number('storage_quota_mb')
            await api.put('/organizations/{organization_id}/quotas', {
              params,
              body: {
                storage_quotas: {
                  ...others,
                  ...(limit !== undefined && { storage_quota_mb: limit }),
                },
              },
              idempotencyKey,
            })
            forget('organization')
            toast(t.saved)
          }}
        >
          <Field
            label={t.limit}
            name="storage_quota_mb"
            type="number"
            min={0}
            value={typeof megabytes === 'number' ? megabytes : ''}
            hint={t.limitHint}
            suffix={t.mib}
          />
        </Form>
      </div>
      <ConfirmWithReason
        kind="limits"
        open={clearing}
        onClose={() => setClearing(false)}
        title={t.clearTitle}
        submit={t.clear}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/organizations/{organization_id}/quotas/clear-override', {
            params,
            body: { reason },
            idempotencyKey,
          })
          forget('organization')
          toast(t.cleared)
        }}
      >
        <p>{t.clearHint}</p>
      </ConfirmWithReason>
    </Card>
  )
}

function Remove({ organization }: Props) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  const { id, name } = organization
  if (!may<'DELETE /organizations/{organization_id}'>('admin')) return null
  return (
    <>
      <button type="button" class="danger" onClick={() => setOpen(true)}>
        {t.remove}
      </button>
      <ConfirmByName
        open={open}
        onClose={() => setOpen(false)}
        title={t.removeTitle(name)}
        submit={t.remove}
        name={name}
        onConfirm={async (idempotencyKey) => {
          await api.delete('/organizations/{organization_id}', {
            params: { organization_id: id },
            idempotencyKey,
          })
          forget('organizations')
          toast(t.removed(name))
          go('/console/organizations')
        }}
      >
        <p>{t.removeHint}</p>
      </ConfirmByName>
    </>
  )
}
