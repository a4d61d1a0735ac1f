/** Prints JSON for programs, or a table for people. */
export function print(
  rows: Record<string, unknown> | Record<string, unknown>[],
  json: boolean,
): void {
  if (json) process.stdout.write(`${JSON.stringify(rows)}\n`)
  else if (Array.isArray(rows)) process.stdout.write(table(rows))
  else process.stdout.write(pairs(rows))
}

/** Shows on the terminal how far a backup or a restore is. */
export const tableProgress = (isQuiet: boolean) => (table: string, rows: number) => {
  if (!isQuiet && rows > 0) process.stderr.write(`${table}: ${rows} rows\n`)
}

function table(rows: Record<string, unknown>[]): string {
  const [first] = rows
  if (!first) return 'none\n'
  const names = Object.keys(first)
  const lines = [names, ...rows.map((row) => names.map((name) => cell(row[name])))]
  const widths = names.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  )
  const text = lines.map((line) =>
    line
      .map((value, column) => value.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${text.join('\n')}\n`
}

function pairs(row: Record<string, unknown>): string {
  const width = Math.max(...Object.keys(row).map((name) => name.length))
  return Object.entries(row)
    .map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}\n`)
    .join('')
}

const cell = (value: unknown): string =>
  value === null || value === undefined
    ? '-'
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)
