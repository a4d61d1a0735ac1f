import { hostOf, namesAbove, prefixesOf, readEntry } from './entries.ts'

export interface ListRow {
  entry_type: 'url' | 'domain' | 'pattern' | 'allowlist'
  entry: string
}

/** The entries of one organization, or of the operator, as they are compared with an address. */
export interface EntrySet {
  /** An allowed address passes, whatever else the list names. */
  allows(url: URL): boolean
  blocks(url: URL): boolean
  /** Regular expressions; they are tried in a worker thread. */
  patterns: readonly string[]
}

export function entrySet(rows: readonly ListRow[]): EntrySet {
  const allowed = places()
  const blocked = places()
  const patterns: string[] = []
  for (const { entry_type, entry } of rows) {
    if (entry_type === 'pattern') patterns.push(entry)
    else (entry_type === 'allowlist' ? allowed : blocked).add(entry)
  }
  return { allows: allowed.contain, blocks: blocked.contain, patterns }
}

function places() {
  const hosts = new Set<string>()
  const prefixes = new Set<string>()
  return {
    add(entry: string): void {
      const read = readEntry(entry)
      if (!read) return
      if ('host' in read) hosts.add(read.host)
      else prefixes.add(read.prefix)
    },
    contain: (url: URL): boolean =>
      (hosts.size > 0 && namesAbove(hostOf(url)).some((name) => hosts.has(name))) ||
      (prefixes.size > 0 && prefixesOf(url).some((prefix) => prefixes.has(prefix))),
  }
}
