import { useState } from 'preact/hooks'
import type { Consent } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { CheckBox, Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Badge, Card, Empty, Time } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

const columns: Column<Consent>[] = [
  { title: t.consentType, cell: ({ consent_type }) => <code>{consent_type}</code> },
  {
    title: t.status,
    cell: ({ granted }) => (
      <Badge tone={granted ? 'good' : ''}>{granted ? t.granted : t.revoked}</Badge>
    ),
  },
  {
    title: t.since,
    cell: ({ granted, granted_at, revoked_at }) => (
      <Time iso={granted ? granted_at : revoked_at} form="dateTime" />
    ),
  },
]

export function Consents({ email }: { email: string }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  const params = { user_email: email }
  const { data, error, again } = useQuery(`compliance ${email} consent`, () =>
    api.get('/compliance/consent/{user_email}', { params }),
  )
  const add = may<'POST /compliance/consent/{user_email}'>('admin') && (
    <button type="button" class="small" onClick={() => setOpen(true)}>
      {t.consentAdd}
    </button>
  )
  return (
    <Card title={t.consent} flush actions={add}>
      <Failed error={error} again={again} />
      <Table
        caption={t.consent}
        columns={columns}
        rows={data?.items}
        expected={1}
        rowKey={({ id }) => id}
        empty={<Empty title={t.noConsent} />}
      />
      <FormDialog
        title={t.consentAdd}
        open={open}
        onClose={() => setOpen(false)}
        submit={t.consentAdd}
        onSubmit={async (values, idempotencyKey) => {
          await api.post('/compliance/consent/{user_email}', {
            params,
            body: {
              consent_type: values.text('consent_type'),
              granted: values.checked('granted'),
            },
            idempotencyKey,
          })
          forget('compliance')
          toast(t.recorded)
        }}
      >
        <Field
          label={t.consentType}
          name="consent_type"
          required
          hint={t.consentHint}
          autocomplete="off"
        />
        <CheckBox label={t.grantedNow} name="granted" checked />
      </FormDialog>
    </Card>
  )
}
