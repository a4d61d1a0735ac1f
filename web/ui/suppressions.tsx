import { useState } from 'preact/hooks'
import type { Suppression } from '../api/schema.ts'
import { useMay } from '../lib/may.ts'
import { RowButton } from './buttons.tsx'
import { Confirm } from './confirm.tsx'
import { type Asked, Choice } from './list.tsx'
import { Badge, Text, Time } from './page.tsx'
import { t } from './suppressions.words.ts'
import type { Column } from './table.tsx'

/** The columns of every list of suppressions. */
export const columns = {
  email: { title: t.email, sort: 'email', cell: ({ email }) => <Text>{email}</Text> },
  note: { title: t.note, minor: true, cell: ({ reason }) => <Text>{reason}</Text> },
  since: {
    title: t.since,
    sort: 'created_at',
    minor: true,
    cell: ({ created_at }) => <Time iso={created_at} form="date" />,
  },
} satisfies Record<string, Column<Suppression>>

export const TypeBadge = ({ type }: { type: string }) => (
  <Badge tone="warn">{t.types[type] ?? type}</Badge>
)

export const TypeFilter = ({
  value,
  change,
}: {
  value: string | undefined
  change(type: string): void
}) => <Choice label={t.anyType} value={value} options={Object.entries(t.types)} change={change} />

/** The query of both routes that list suppressions. */
export const queryOf = ({ q, page, per_page, sort, dir, filters: { type } }: Asked<'type'>) => ({
  q,
  page,
  per_page,
  sort_by: sort,
  sort_dir: dir,
  ...(type && { suppression_type: type }),
})

export function Lift({
  email,
  onConfirm,
}: {
  email: string
  onConfirm(idempotencyKey: string): Promise<unknown>
}) {
  const may = useMay()
  const [open, setOpen] = useState(false)
  if (!may<'DELETE /tracking/suppress/{email}'>('write')) return null
  return (
    <>
      <RowButton name={email} onClick={() => setOpen(true)}>
        {t.lift}
      </RowButton>
      <Confirm
        open={open}
        onClose={() => setOpen(false)}
        title={t.liftTitle(email)}
        submit={t.lift}
        onConfirm={onConfirm}
      >
        <p>{t.liftHint}</p>
      </Confirm>
    </>
  )
}
