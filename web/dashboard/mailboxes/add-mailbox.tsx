import { forget } from '../../lib/query.ts'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

const GIB = 1024 ** 3

export function AddMailbox({ open, onClose }: { open: boolean; onClose(): void }) {
  return (
    <FormDialog
      title={t.add}
      open={open}
      onClose={onClose}
      submit={t.add}
      onSubmit={async (values, idempotencyKey) => {
        const email = values.text('email')
        const quota = values.number('storage_quota')
        await api.post('/mailboxes/email-accounts', {
          body: {
            email,
            password: values.secret('password'),
            name: values.optional('name'),
            ...(quota !== undefined && { storage_quota: Math.round(quota * GIB) }),
          },
          idempotencyKey,
        })
        forget('mailboxes')
        toast(t.added(email))
      }}
    >
      <Field
        label={t.address}
        name="email"
        type="email"
        required
        hint={t.addressHint}
        autocomplete="off"
      />
      <Field label={t.name} name="name" autocomplete="off" />
      <Field
        label={t.password}
        name="password"
        type="password"
        required
        hint={t.passwordRule}
        autocomplete="new-password"
      />
      <Field
        label={t.quota}
        name="storage_quota"
        type="number"
        min={0}
        step="any"
        value={1}
        hint={t.quotaHint}
        suffix={t.gib}
      />
    </FormDialog>
  )
}
