import { useState } from 'preact/hooks'
import type { ProvisioningFailure } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { RowButton } from '../../ui/buttons.tsx'
import { ConfirmWithReason } from '../../ui/confirm.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

const columns: Column<ProvisioningFailure>[] = [
  {
    title: t.name,
    cell: ({ name, resource_type }) => (
      <>
        <Text>{name}</Text>
        <small class="under">{t.types[resource_type]}</small>
      </>
    ),
  },
  {
    title: t.organization,
    minor: true,
    cell: ({ organization_id, organization_name }) => (
      <a href={`/console/organizations/${organization_id}`}>
        <Text>{organization_name}</Text>
      </a>
    ),
  },
  {
    title: t.error,
    cell: ({ error }) => (
      <span lang="en">
        <Text>{error}</Text>
      </span>
    ),
  },
  { title: t.attempts, number: true, minor: true, cell: ({ attempts }) => attempts },
  { title: common.when, minor: true, cell: ({ updated_at }) => <Time iso={updated_at} /> },
  { title: common.actions, quiet: true, cell: (one) => <Retry failure={one} /> },
]

export function Provisioning() {
  const list = useList<ProvisioningFailure, 'resource_type'>({
    name: 'provisioning',
    sort: '',
    filters: ['resource_type'],
    read: ({ page, per_page, filters }) =>
      api.get('/platform/provisioning-failures', {
        query: { page, per_page, resource_type: filters.resource_type as 'mailbox' | undefined },
      }),
  })
  return (
    <>
      <Heading title={titles.provisioning} />
      <p class="muted gap">{t.hint}</p>
      <SearchBar list={list}>
        <Choice
          label={t.any}
          value={list.asked.filters.resource_type}
          options={Object.entries(t.types)}
          change={(resource_type) => list.set({ resource_type })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={titles.provisioning}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.none} />}
      />
    </>
  )
}

function Retry({ failure: { id, name, resource_type } }: { failure: ProvisioningFailure }) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  const isAllowed =
    may<'POST /platform/provisioning-failures/{resource_type}/{resource_id}/retry'>('operator')
  if (!isAllowed) return null
  return (
    <>
      <RowButton name={name} onClick={() => setOpen(true)}>
        {t.retry}
      </RowButton>
      <ConfirmWithReason
        kind="provisioning"
        open={open}
        onClose={() => setOpen(false)}
        title={t.retryTitle(name)}
        submit={t.retry}
        onConfirm={async (reason, idempotencyKey) => {
          await api.post('/platform/provisioning-failures/{resource_type}/{resource_id}/retry', {
            params: { resource_type, resource_id: id },
            body: { reason },
            idempotencyKey,
          })
          forget('provisioning')
          toast(t.retried(name))
        }}
      >
        <p>{t.retryHint}</p>
      </ConfirmWithReason>
    </>
  )
}
