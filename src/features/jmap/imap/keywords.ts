const SYSTEM: Record<string, string> = {
  '\\seen': '$seen',
  '\\flagged': '$flagged',
  '\\answered': '$answered',
  '\\draft': '$draft',
}
const FLAGS = new Map(
  Object.entries(SYSTEM).map(([flag, keyword]) => [
    keyword,
    `\\${flag.charAt(1).toUpperCase()}${flag.slice(2)}`,
  ]),
)

/** The keywords for the flags of a message, sorted. Flags without a keyword, such as \Recent, are left out. */
export function keywordsOf(flags: readonly string[]): string[] {
  const keywords = flags.flatMap((flag) => {
    const lower = flag.toLowerCase()
    const system = SYSTEM[lower]
    if (system) return [system]
    return lower.startsWith('\\') ? [] : [lower]
  })
  return [...new Set(keywords)].sort()
}

export const flagsOf = (keywords: Iterable<string>): string[] =>
  [...keywords].map((keyword) => FLAGS.get(keyword) ?? keyword)

/** RFC 8621 section 4.1.1: a keyword is an IMAP flag without a backslash. */
export const isKeyword = (keyword: string): boolean =>
  /^[\x21-\x7e]{1,255}$/.test(keyword) && !/[(){\]%*"\\]/.test(keyword)

export const isUnread = (keywords: readonly string[]): boolean =>
  !keywords.includes('$seen') && !keywords.includes('$draft')
