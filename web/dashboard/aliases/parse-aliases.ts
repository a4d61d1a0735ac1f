export interface NewAlias {
  source: string
  destination: string
}

/** Reads lines like `info@acme.example, jane@acme.example`; also with tabs, semicolons or an arrow. */
export function parseAliases(text: string): { aliases: NewAlias[]; badLine?: number } {
  const aliases: NewAlias[] = []
  let badLine: number | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const [source, ...destinations] = line
      .split(/[,;\t]|\s*->\s*|\s+/)
      .map((part) => part.trim())
      .filter(Boolean)
    if (source === undefined) continue
    if (destinations.length === 0) badLine ??= index + 1
    else aliases.push({ source, destination: destinations.join(',') })
  }
  return { aliases, ...(badLine !== undefined && { badLine }) }
}
