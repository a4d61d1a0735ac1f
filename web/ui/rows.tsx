import { useState } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { cross } from './icons.ts'

let nextId = 0

/** Rows that are added and removed while what is typed in the others stays. */
export function useRows<Row>(first: readonly Row[]) {
  const named = (row: Row) => ({ id: nextId++, row })
  const [rows, setRows] = useState(() => first.map(named))
  return {
    rows,
    add: (row: Row) => setRows([...rows, named(row)]),
    change: (id: number, row: Row) =>
      setRows(rows.map((one) => (one.id === id ? { id, row } : one))),
    remove: (id: number) => setRows(rows.filter((one) => one.id !== id)),
  }
}

export const RemoveRow = ({
  name,
  hidden,
  remove,
}: {
  name: string
  hidden: boolean
  remove(): void
}) =>
  hidden ? null : (
    <button type="button" class="quiet icon" aria-label={name} onClick={remove}>
      <Icon path={cross} />
    </button>
  )

/** The options of a select, from their names. */
export const optionsOf = (names: Partial<Record<string, string>>, chosen?: string) =>
  Object.entries(names).map(([value, text]) => (
    <option key={value} value={value} selected={value === chosen}>
      {text}
    </option>
  ))
