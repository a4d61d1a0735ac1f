import { useState } from 'preact/hooks'
import type { Alias } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { Field } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { AddManyAliases } from './add-many.tsx'
import { AliasActions } from './alias-actions.tsx'
import { t } from './words.ts'

const SHOWN = 3

const columns: Column<Alias>[] = [
  {
    title: t.source,
    sort: 'source',
    cell: ({ source, active }) => (
      <>
        <Text>{source}</Text> {source.startsWith('@') && <Badge>{t.catchAll}</Badge>}{' '}
        {!active && <Badge tone="warn">{t.isInactive}</Badge>}
      </>
    ),
  },
  {
    title: t.destination,
    cell: ({ destinations }) => (
      <>
        <Text>{destinations.slice(0, SHOWN).join(', ')}</Text>{' '}
        {destinations.length > SHOWN && (
          <span class="muted">{t.more(destinations.length - SHOWN)}</span>
        )}
      </>
    ),
  },
  {
    title: t.forwards,
    number: true,
    minor: true,
    cell: ({ monthly_forwards }) => (monthly_forwards === null ? '–' : number(monthly_forwards)),
  },
  {
    title: t.created,
    sort: 'created_at',
    minor: true,
    cell: ({ created_at }) => <Time iso={created_at} form="date" />,
  },
  { title: common.actions, quiet: true, cell: (alias) => <AliasActions alias={alias} /> },
]

export function Aliases() {
  const may = useMay()
  const [open, setOpen] = useState<'one' | 'many'>()
  const list = useList({
    name: 'aliases',
    sort: 'source',
    filters: ['domain', 'active'],
    read: ({ q, page, per_page, sort, dir, filters }) =>
      api.list('/aliases/get/{alias_id}', {
        params: { alias_id: 'all' },
        query: {
          q,
          page,
          per_page,
          sort_by: sort as 'source',
          sort_dir: dir,
          active: filters.active === undefined ? 'any' : filters.active === 'true',
          ...(filters.domain && { domain: filters.domain }),
        },
      }),
  })
  const domains = useQuery('domains choice', () =>
    api.get('/domains/', { query: { per_page: 200 } }),
  )
  const mayAdd = may<'POST /aliases/add'>('write')
  const add = (words: string) =>
    mayAdd && <AddButton onClick={() => setOpen('one')}>{words}</AddButton>
  return (
    <>
      <Heading title={t.title}>
        {mayAdd && (
          <button type="button" onClick={() => setOpen('many')}>
            {t.addMany}
          </button>
        )}
        {add(t.add)}
      </Heading>
      <SearchBar list={list} label={t.search}>
        <Choice
          label={t.state}
          value={list.asked.filters.active}
          options={[
            ['true', t.active],
            ['false', t.inactive],
          ]}
          change={(active) => list.set({ active })}
        />
        <Choice
          label={t.anyDomain}
          value={list.asked.filters.domain}
          options={(domains.data?.items ?? []).map(
            ({ domain, domain_unicode }) => [domain, domain_unicode] as const,
          )}
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
        open={open === 'one'}
        onClose={() => setOpen(undefined)}
        submit={t.add}
        onSubmit={async (values, idempotencyKey) => {
          const source = values.text('source')
          await api.post('/aliases/add', {
            body: { source, destination: values.text('destination') },
            idempotencyKey,
          })
          forget('aliases')
          toast(t.added(source))
        }}
      >
        <Field label={t.source} name="source" required hint={t.sourceHint} autocomplete="off" />
        <Field
          label={t.destination}
          name="destination"
          required
          hint={t.destinationHint}
          autocomplete="off"
        />
      </FormDialog>
      <AddManyAliases open={open === 'many'} onClose={() => setOpen(undefined)} />
    </>
  )
}
