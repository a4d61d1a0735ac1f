import { useState } from 'preact/hooks'
import type { ApiKey } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { RowButton } from '../../ui/buttons.tsx'
import { ConfirmByName } from '../../ui/confirm.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Text, Time } from '../../ui/page.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { Frame } from './frame.tsx'
import { t } from './words.ts'

export const OrganizationKeys = () => <Frame part={t.keys}>{({ id }) => <Keys of={id} />}</Frame>

const TONES = { active: 'good', expired: 'warn', revoked: '' } as const

const columns: Column<ApiKey>[] = [
  { title: t.name, cell: ({ name }) => <Text>{name}</Text> },
  { title: t.id, minor: true, cell: ({ key_id }) => <code>{key_id}</code> },
  {
    title: t.status,
    cell: ({ status }) => <Badge tone={TONES[status]}>{t.keyStatus[status]}</Badge>,
  },
  { title: t.scopes, minor: true, cell: ({ scopes }) => scopes.join(', ') },
  { title: t.lastUsed, minor: true, cell: ({ last_used }) => <Time iso={last_used} /> },
  {
    title: t.expires,
    minor: true,
    cell: ({ expires_at }) => <Time iso={expires_at} form="date" />,
  },
  { title: common.actions, quiet: true, cell: (key) => <Revoke apiKey={key} /> },
]

function Revoke({ apiKey: { key_id, name, status } }: { apiKey: ApiKey }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  if (status !== 'active' || !may<'POST /api-keys/{key_id}/revoke'>('admin')) return null
  return (
    <>
      <RowButton name={name} onClick={() => setOpen(true)}>
        {t.revoke}
      </RowButton>
      <ConfirmByName
        name={name}
        open={open}
        onClose={() => setOpen(false)}
        title={t.revokeTitle(name)}
        submit={t.revoke}
        onConfirm={async (idempotencyKey) => {
          await api.post('/api-keys/{key_id}/revoke', { params: { key_id }, idempotencyKey })
          forget('keys')
          toast(t.revoked(name))
        }}
      >
        <p>{t.revokeHint}</p>
      </ConfirmByName>
    </>
  )
}

function Keys({ of }: { of: string }) {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const [secret, setSecret] = useState<string>()
  const list = useList({
    name: `keys ${of}`,
    sort: '',
    read: ({ q, page, per_page }) =>
      api.get('/api-keys/', { query: { q, page, per_page, organization_id: of } }),
  })
  return (
    <>
      <SearchBar list={list} label={t.searchKeys}>
        {may<'POST /api-keys/'>('admin') && (
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            {t.addKey}
          </button>
        )}
      </SearchBar>
      <ListTable
        list={list}
        caption={t.keys}
        columns={columns}
        rowKey={({ key_id }) => key_id}
        empty={<Empty title={t.noKeys}>{t.noKeysHint}</Empty>}
      />
      <FormDialog
        title={t.addKey}
        open={adding}
        onClose={() => setAdding(false)}
        submit={t.addKey}
        onSubmit={async (values, idempotencyKey) => {
          const { api_key } = await api.post('/api-keys/', {
            body: {
              name: values.text('name'),
              scopes: [values.text('scope') as 'read'],
              expires_at: values.optional('expires_at'),
              organization_id: of,
            },
            idempotencyKey,
          })
          forget('keys')
          setSecret(api_key)
        }}
      >
        <Field label={t.name} name="name" required autocomplete="off" />
        <Select label={t.scope} name="scope" value="write" options={Object.entries(t.levels)} />
        <Field label={t.expires} name="expires_at" type="date" />
      </FormDialog>
      <SecretDialog
        title={t.keys}
        secret={secret}
        fileName="api-key.txt"
        onClose={() => setSecret(undefined)}
      />
    </>
  )
}
