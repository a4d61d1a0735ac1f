import { useState } from 'preact/hooks'
import type { TemplateSummary } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { go } from '../../lib/router.tsx'
import { AddButton } from '../../ui/buttons.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Empty, Heading, Text, Time } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { api } from '../api.ts'
import { t as titles } from '../titles.words.ts'
import { t } from './words.ts'

const columns: Column<TemplateSummary>[] = [
  {
    title: t.name,
    cell: ({ id, name }) => (
      <a href={`/app/templates/${id}`}>
        <Text>{name}</Text>
      </a>
    ),
  },
  {
    title: t.subject,
    minor: true,
    cell: ({ subject_template }) => <Text>{subject_template}</Text>,
  },
  { title: t.renders, minor: true, cell: ({ render_count }) => number(render_count) },
  { title: t.changed, minor: true, cell: ({ updated_at }) => <Time iso={updated_at} /> },
]

export function Templates() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const library = useQuery('templates library', () => api.get('/templates/library'))
  const list = useList({
    name: 'templates',
    sort: 'updated_at',
    read: ({ q, page, per_page }) =>
      api.get('/templates/', { query: { page, per_page, ...(q && { q }) } }),
  })
  const starters = library.data?.templates ?? []
  const add = may<'POST /templates/'>('write') && (
    <AddButton onClick={() => setAdding(true)}>{t.add}</AddButton>
  )
  return (
    <>
      <Heading title={titles.templates}>{add}</Heading>
      <SearchBar list={list} label={t.search} />
      <ListTable
        list={list}
        caption={titles.templates}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title={t.none} action={add}>
            {t.hint}
          </Empty>
        }
      />
      <FormDialog
        title={t.add}
        open={adding}
        onClose={() => setAdding(false)}
        submit={t.add}
        onSubmit={async (values, idempotencyKey) => {
          const starter = starters.find(({ id }) => id === values.text('start'))
          const { id } = await api.post('/templates/', {
            body: {
              name: values.text('name'),
              subject_template: starter?.subject ?? '…',
              html_content: starter?.html ?? '',
            },
            idempotencyKey,
          })
          forget('templates')
          go(`/app/templates/${id}`)
        }}
      >
        <Field label={t.name} name="name" autocomplete="off" required />
        <Select label={t.start} name="start" options={starters.map(({ id, name }) => [id, name])} />
      </FormDialog>
    </>
  )
}
