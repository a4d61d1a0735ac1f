import { useState } from 'preact/hooks'
import { TextArea } from '../ui/field.tsx'
import { Badge } from '../ui/page.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { t } from './lines.words.ts'

/** Rows of the preview; those with a problem come first. */
const SHOWN = 100

export interface Line {
  line: number
  /** The reason that the line cannot be sent. */
  problem?: string | undefined
}

interface Props<Row extends Line> {
  label: string
  hint: string
  text: string
  onText(text: string): void
  lines: readonly Row[]
  columns: Column<Row>[]
  limit: number
}

/** A button is of use only for lines that can all be sent. */
export const areReady = (lines: readonly Line[], limit: number): boolean =>
  lines.length > 0 && lines.length <= limit && lines.every(({ problem }) => !problem)

/** Lines that are pasted or read from a file, and a table of what was understood. */
export function LinesField<Row extends Line>(props: Props<Row>) {
  const { label, hint, text, onText, lines, columns, limit } = props
  // A file replaces what was typed: the new key makes a new field with the new text.
  const [loaded, setLoaded] = useState(0)
  const bad = lines.filter(({ problem }) => problem)
  const shown = [...bad, ...lines.filter(({ problem }) => !problem)].slice(0, SHOWN)
  const status =
    lines.length > limit
      ? t.tooMany(limit)
      : bad.length > 0
        ? t.badLines(bad.length, lines.length)
        : t.preview(lines.length, shown.length)
  return (
    <>
      <TextArea
        key={loaded}
        label={label}
        name="lines"
        rows={8}
        hint={hint}
        value={text}
        onInput={onText}
      />
      <input
        type="file"
        accept=".csv,.txt,.tsv,text/csv,text/plain"
        aria-label={t.file}
        onChange={async (event) => {
          onText((await event.currentTarget.files?.[0]?.text()) ?? '')
          setLoaded(loaded + 1)
        }}
      />
      <p class={bad.length > 0 || lines.length > limit ? 'wrong' : 'muted'} role="status">
        {status}
      </p>
      {lines.length > 0 && (
        <Table
          caption={t.caption}
          rows={shown}
          rowKey={({ line }) => String(line)}
          columns={[
            { title: t.line, number: true, cell: ({ line }) => line },
            ...columns,
            {
              title: t.problem,
              cell: ({ problem }) => problem && <Badge tone="bad">{problem}</Badge>,
            },
          ]}
        />
      )}
    </>
  )
}
