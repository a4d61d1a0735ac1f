export interface NewAlias {
  source: string
  destination: string
}

/** A line as the preview shows it. */
export interface AliasLine extends NewAlias {
  line: number
  problem?: 'noDestination' | 'twice'
}

/** Reads lines like `info@acme.example, jane@acme.example`; also with tabs, semicolons or an arrow. */
export function parseAliases(text: string): {
  aliases: NewAlias[]
  lines: AliasLine[]
  badLine?: number
} {
  const lines: AliasLine[] = []
  const seen = new Set<string>()
  for (const [index, line] of text.split('\n').entries()) {
    const [source, ...destinations] = line
      .split(/[,;\t]|\s*->\s*|\s+/)
      .map((part) => part.trim())
      .filter(Boolean)
    // A first line without @ is a header.
    if (source === undefined || (index === 0 && !line.includes('@'))) continue
    const key = source.toLowerCase()
    const problem =
      destinations.length === 0 ? 'noDestination' : seen.has(key) ? 'twice' : undefined
    seen.add(key)
    const destination = destinations.join(',')
    lines.push({ line: index + 1, source, destination, ...(problem && { problem }) })
  }
  const aliases = lines
    .filter(({ problem }) => !problem)
    .map(({ source, destination }) => ({ source, destination }))
  const bad = lines.find(({ problem }) => problem)
  return { aliases, lines, ...(bad && { badLine: bad.line }) }
}
