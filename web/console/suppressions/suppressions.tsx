import { useState } from 'preact/hooks'
import type { Suppression } from '../../api/schema.ts'
import { number } from '../../lib/format.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { TextArea } from '../../ui/field.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Empty, Heading } from '../../ui/page.tsx'
import { columns as common, Lift, queryOf, TypeBadge, TypeFilter } from '../../ui/suppressions.tsx'
import { t as shared } from '../../ui/suppressions.words.ts'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as words } from '../../ui/words.ts'
import { api } from '../api.ts'
import { linesOf, OrganizationField, ReasonField } from '../fields.tsx'
import { OrganizationLink } from '../organization-link.tsx'
import { t } from './words.ts'

async function lift(
  { email, organization_id, suppression_type, reason }: Suppression,
  idempotencyKey: string,
) {
  await api.delete('/tracking/suppress/{email}', {
    params: { email },
    query: { organization_id },
    idempotencyKey,
  })
  forget('suppressions')
  toast(shared.lifted(email), async () => {
    await api.post('/tracking/suppressions/bulk', {
      body: { emails: [email], organization_id, suppression_type, reason: reason ?? words.undo },
    })
    forget('suppressions')
  })
}

const columns: Column<Suppression>[] = [
  common.email,
  { title: shared.type, cell: ({ suppression_type }) => <TypeBadge type={suppression_type} /> },
  {
    title: t.organization,
    minor: true,
    cell: ({ organization_id }) => <OrganizationLink id={organization_id} />,
  },
  common.note,
  common.since,
  {
    title: words.actions,
    quiet: true,
    cell: (one) => <Lift email={one.email} onConfirm={(key) => lift(one, key)} />,
  },
]

/** The suppressed addresses of every organization. */
export function Suppressions() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const list = useList<Suppression, 'type'>({
    name: 'suppressions',
    sort: 'created_at',
    dir: 'desc',
    filters: ['type'],
    read: (asked) =>
      api.get('/tracking/suppressions', { query: { ...queryOf(asked), active: true } }),
  })
  return (
    <>
      <Heading title={t.title}>
        {may<'POST /tracking/suppressions/bulk'>('operator') && (
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            {t.add}
          </button>
        )}
      </Heading>
      <p class="muted gap">{t.hint}</p>
      <SearchBar list={list} label={shared.search}>
        <TypeFilter value={list.asked.filters.type} change={(type) => list.set({ type })} />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={shared.none}>{shared.noneHint}</Empty>}
      />
      <FormDialog
        title={t.add}
        open={adding}
        onClose={() => setAdding(false)}
        submit={t.add}
        onSubmit={async (values, idempotencyKey) => {
          const { suppressed, failed } = await api.post('/tracking/suppressions/bulk', {
            body: {
              emails: linesOf(values.text('emails')),
              organization_id: values.text('organization_id'),
              reason: values.text('reason'),
            },
            idempotencyKey,
          })
          forget('suppressions')
          const [problem] = failed
          toast(
            problem
              ? t.failed(number(failed.length), problem.email, problem.error)
              : t.added(number(suppressed.length)),
          )
        }}
      >
        <OrganizationField />
        <TextArea label={t.emails} name="emails" hint={t.emailsHint} required />
        <ReasonField />
      </FormDialog>
    </>
  )
}
