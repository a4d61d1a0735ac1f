import { useState } from 'preact/hooks'
import type { ApiKey } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { KeyActions } from './key-actions.tsx'
import { t } from './words.ts'

const TONES = { active: 'good', expired: 'warn', revoked: 'bad' } as const

const columns: Column<ApiKey>[] = [
  { title: t.name, cell: ({ name }) => <Text>{name}</Text> },
  {
    title: t.access,
    minor: true,
    cell: ({ scopes }) =>
      scopes.map((scope) => (t.levels as Record<string, string>)[scope] ?? scope).join(', '),
  },
  {
    title: t.status,
    cell: ({ status }) => <Badge tone={TONES[status]}>{t.statuses[status]}</Badge>,
  },
  { title: t.lastUsed, minor: true, cell: ({ last_used }) => <Time iso={last_used} /> },
  {
    title: t.expires,
    minor: true,
    cell: ({ expires_at }) => <Time iso={expires_at} form="date" />,
  },
  {
    title: t.created,
    minor: true,
    cell: ({ created_at }) => <Time iso={created_at} form="date" />,
  },
  { title: common.actions, quiet: true, cell: (one) => <KeyActions apiKey={one} /> },
]

export function ApiKeys() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const [created, setCreated] = useState<{ name: string; api_key: string }>()
  const list = useList({
    name: 'api-keys',
    sort: '',
    filters: ['status'],
    read: ({ q, page, per_page, filters }) =>
      api.get('/api-keys/', {
        query: {
          q,
          page,
          per_page,
          ...(filters.status && { status: filters.status as ApiKey['status'] }),
        },
      }),
  })
  const add = (words: string) =>
    may<'POST /api-keys/'>('admin') && (
      <AddButton onClick={() => setAdding(true)}>{words}</AddButton>
    )
  return (
    <>
      <Heading title={t.title}>{add(t.add)}</Heading>
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.anyStatus}
          value={list.asked.filters.status}
          options={Object.entries(t.statuses)}
          change={(status) => list.set({ status })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ key_id }) => key_id}
        empty={
          <Empty title={t.none} action={add(t.addFirst)}>
            {t.noneHint}
          </Empty>
        }
      />
      <FormDialog
        title={t.add}
        open={adding}
        onClose={() => setAdding(false)}
        submit={t.add}
        onSubmit={async (values, idempotencyKey) => {
          const expires = values.text('expires_at')
          const { name, api_key } = await api.post('/api-keys/', {
            body: {
              name: values.text('name'),
              scopes: [values.text('scopes') as 'read'],
              expires_at: expires ? new Date(expires).toISOString() : null,
            },
            idempotencyKey,
          })
          forget('api-keys')
          setCreated({ name, api_key })
          toast(t.added(name))
        }}
      >
        <Field label={t.name} name="name" hint={t.nameHint} autocomplete="off" required />
        <Select
          label={t.access}
          name="scopes"
          value="read"
          options={Object.entries(t.levels)}
          hint={t.accessHint}
        />
        <Field label={t.expires} name="expires_at" type="datetime-local" hint={t.expiresHint} />
      </FormDialog>
      <SecretDialog
        title={t.secretTitle(created?.name ?? '')}
        secret={created?.api_key}
        fileName="api-key.txt"
        onClose={() => setCreated(undefined)}
      />
    </>
  )
}
