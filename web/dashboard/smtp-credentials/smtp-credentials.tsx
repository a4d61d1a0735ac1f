import { useState } from 'preact/hooks'
import type { SmtpCredential } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Empty, Heading, Text, Time } from '../../ui/page.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { CredentialActions } from './credential-actions.tsx'
import { LimitFields, limitsOf } from './limits.tsx'
import { Status } from './status.tsx'
import { t } from './words.ts'

const columns: Column<SmtpCredential>[] = [
  {
    title: t.username,
    sort: 'username',
    cell: ({ id, username }) => (
      <a href={`/app/smtp-credentials/${id}`}>
        <Text>{username}</Text>
      </a>
    ),
  },
  { title: t.name, minor: true, cell: ({ name }) => <Text>{name}</Text> },
  { title: t.status, cell: (one) => <Status {...one} /> },
  {
    title: t.lastUsed,
    sort: 'last_used_at',
    minor: true,
    cell: ({ last_used_at }) => <Time iso={last_used_at} />,
  },
  {
    title: t.created,
    sort: 'created_at',
    minor: true,
    cell: ({ created_at }) => <Time iso={created_at} form="date" />,
  },
  { title: common.actions, quiet: true, cell: (one) => <CredentialActions credential={one} /> },
]

export function SmtpCredentials() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const [created, setCreated] = useState<{ username: string; secret: string }>()
  const list = useList({
    name: 'smtp-credentials',
    sort: 'username',
    filters: ['domain', 'active'],
    read: async ({ q, page, per_page, sort, dir, filters }) => {
      const { credentials, total } = await api.get('/smtp-credentials/', {
        query: {
          q,
          limit: per_page,
          offset: (page - 1) * per_page,
          sort_by: sort as 'username',
          sort_dir: dir,
          ...(filters.domain && { domain_id: filters.domain }),
          ...(filters.active && { active: filters.active === 'true' }),
        },
      })
      return { items: credentials, pagination: { total } }
    },
  })
  const domains = useQuery('domains choice', () =>
    api.get('/domains/', { query: { per_page: 200 } }),
  )
  const choices = (domains.data?.items ?? []).map(
    ({ id, domain_unicode }) => [id, domain_unicode] as const,
  )
  const add = (words: string) =>
    may<'POST /smtp-credentials/'>('write') && (
      <AddButton onClick={() => setAdding(true)}>{words}</AddButton>
    )
  return (
    <>
      <Heading title={t.title}>{add(t.add)}</Heading>
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.state}
          value={list.asked.filters.active}
          options={[
            ['true', t.active],
            ['false', t.revoked],
          ]}
          change={(active) => list.set({ active })}
        />
        <Choice
          label={t.anyDomain}
          value={list.asked.filters.domain}
          options={choices}
          change={(domain) => list.set({ domain })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => id}
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
          const { username, secret } = await api.post('/smtp-credentials/', {
            body: {
              domain_id: values.text('domain_id'),
              username: values.optional('username'),
              ...limitsOf(values),
            },
            idempotencyKey,
          })
          forget('smtp-credentials')
          if (secret) setCreated({ username, secret })
          toast(t.added(username))
        }}
      >
        <Select label={t.domain} name="domain_id" options={choices} required />
        <Field label={t.username} name="username" hint={t.usernameHint} autocomplete="off" />
        <LimitFields />
      </FormDialog>
      <SecretDialog
        title={t.secretTitle(created?.username ?? '')}
        secret={created?.secret}
        fileName="smtp-password.txt"
        onClose={() => setCreated(undefined)}
      />
    </>
  )
}
