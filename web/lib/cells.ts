/**
 * The cells of a line of CSV or of a pasted table, separated by commas, semicolons or tabs. A cell
 * in quotes may contain separators, and "" is a quote.
 */
export function cells(line: string): string[] {
  const found = line.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,;\t]*))\s*(?:[,;\t]|$)/g)
  return [...found].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain?.trim() ?? '')
}

/** The lines that have a text, with their numbers. A first line without @ is a header. */
export const linesOf = (text: string): { line: number; text: string }[] =>
  text
    .split(/\r?\n/)
    .map((one, index) => ({ line: index + 1, text: one }))
    .filter(({ line, text }) => text.trim() !== '' && (line > 1 || text.includes('@')))

export const isAddress = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text)
