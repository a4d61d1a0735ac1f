import { useState } from 'preact/hooks'
import type { ThrottleEntry } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { Lift } from './lift.tsx'
import { SERVICES } from './services.ts'
import { BlockAddress } from './sign-ins.tsx'
import { SecurityTabs } from './tabs.tsx'
import { t } from './words.ts'

const columns: Column<ThrottleEntry>[] = [
  { title: t.kind, minor: true, cell: ({ kind }) => t.kinds[kind] },
  { title: t.address, cell: ({ client_ip }) => (client_ip ? <code>{client_ip}</code> : '–') },
  { title: t.account, cell: ({ username }) => <Text>{username ?? '–'}</Text> },
  { title: t.service, minor: true, cell: ({ service }) => <code>{service}</code> },
  { title: t.origin, minor: true, cell: ({ origin }) => t.origins[origin] },
  {
    title: t.attempts,
    number: true,
    minor: true,
    cell: ({ attempt_count }) => number(attempt_count),
  },
  { title: t.until, cell: ({ blocked_until }) => <Time iso={blocked_until} /> },
  { title: common.actions, quiet: true, cell: (row) => <Lift {...row} /> },
]

export function Blocks() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList({
    name: 'security blocks',
    sort: '',
    filters: ['kind', 'service'],
    read: ({ page, per_page, filters }) =>
      api.get('/security/throttles', {
        query: {
          page,
          per_page,
          ...(filters.kind && { kind: filters.kind as 'ip' }),
          ...(filters.service && { service: filters.service as 'smtp' }),
        },
      }),
  })
  const add = may<'POST /security/failed-auth/{client_ip}/block'>('operator') && (
    <button type="button" class="primary" onClick={() => setAdding(true)}>
      {t.blockAny}
    </button>
  )
  return (
    <>
      <Heading title={t.blocks}>{add}</Heading>
      <SecurityTabs />
      <SearchBar list={list}>
        <Choice
          label={t.anyKind}
          value={list.asked.filters.kind}
          options={Object.entries(t.kinds)}
          change={(kind) => list.set({ kind })}
        />
        <Choice
          label={t.anyService}
          value={list.asked.filters.service}
          options={SERVICES}
          change={(service) => list.set({ service })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.blocks}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={t.noBlocks}>{t.noBlocksHint}</Empty>}
      />
      <BlockAddress open={adding} onClose={() => setAdding(false)} />
    </>
  )
}
