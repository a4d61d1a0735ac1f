import { useState } from 'preact/hooks'
import type { AppPassword } from '../../api/schema.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { ConfirmByName } from '../../ui/confirm.tsx'
import { CheckBox, Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { ListTable, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { LastUse } from './last-use.tsx'
import { t } from './words.ts'

const SCOPES = ['imap', 'smtp', 'sieve', 'dav', 'jmap'] as const
const USUAL: readonly string[] = ['imap', 'smtp']

export function AppPasswords() {
  const factor = useQuery('two-factor', () => api.get('/mailbox/two-factor'))
  const [revoking, setRevoking] = useState<AppPassword>()
  const list = useList<AppPassword>({
    name: 'app-passwords',
    sort: 'created_at',
    dir: 'desc',
    read: ({ page, per_page }) => api.get('/mailbox/app-passwords', { query: { page, per_page } }),
  })
  const columns: Column<AppPassword>[] = [
    { title: t.name, cell: ({ name }) => <Text>{name}</Text> },
    {
      title: t.scopes,
      cell: ({ scopes }) => scopes.map((scope) => <Badge key={scope}>{t.short[scope]}</Badge>),
    },
    {
      title: t.created,
      minor: true,
      cell: ({ created_at }) => <Time iso={created_at} form="date" />,
    },
    { title: t.lastUsed, cell: LastUse },
    {
      title: common.actions,
      quiet: true,
      cell: (one) => (
        <button type="button" class="small" onClick={() => setRevoking(one)}>
          {t.revoke}{' '}
          <span class="hidden">
            <Text>{one.name}</Text>
          </span>
        </button>
      ),
    },
  ]
  return (
    <>
      <Heading title={t.title}>
        <Add />
      </Heading>
      <div class="prose gap">
        <p class="muted">{t.hint}</p>
        {factor.data?.enabled && <p class="note">{t.withFactor}</p>}
      </div>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
      <ConfirmByName
        name={revoking?.name ?? ''}
        open={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        title={t.revokeTitle(revoking?.name ?? '')}
        submit={t.revoke}
        onConfirm={async (idempotencyKey) => {
          if (!revoking) return
          const params = { app_password_id: revoking.id }
          await api.delete('/mailbox/app-passwords/{app_password_id}', { params, idempotencyKey })
          forget('app-passwords')
          toast(t.revoked(revoking.name))
        }}
      >
        <p>{t.revokeHint}</p>
      </ConfirmByName>
    </>
  )
}

/** The password is only in this component, and gone when its dialog closes. */
function Add() {
  const [open, setOpen] = useState(false)
  const [password, setPassword] = useState<string>()
  return (
    <>
      <button type="button" class="primary" onClick={() => setOpen(true)}>
        {t.add}
      </button>
      <FormDialog
        title={t.add}
        open={open}
        onClose={() => setOpen(false)}
        submit={t.add}
        onSubmit={async (values, idempotencyKey) => {
          const made = await api.post('/mailbox/app-passwords', {
            body: {
              name: values.text('name'),
              scopes: SCOPES.filter((scope) => values.checked(scope)),
            },
            idempotencyKey,
          })
          forget('app-passwords')
          setPassword(made.password)
        }}
      >
        <Field
          label={t.name}
          name="name"
          hint={t.nameHint}
          maxLength={100}
          autocomplete="off"
          required
        />
        <fieldset class="rows">
          <legend>{t.scopes}</legend>
          {SCOPES.map((scope) => (
            <CheckBox
              key={scope}
              label={t.scope[scope]}
              name={scope}
              checked={USUAL.includes(scope)}
            />
          ))}
        </fieldset>
      </FormDialog>
      <SecretDialog
        title={t.secretTitle}
        secret={password}
        fileName="app-password.txt"
        onClose={() => setPassword(undefined)}
      >
        <p>{t.secretHint}</p>
      </SecretDialog>
    </>
  )
}
