import { open } from 'node:fs/promises'
import { readEntry } from './entries.ts'
import { type FeedTable, feedTable } from './feed-table.ts'

const MAX_LINE = 4096
const MAX_ENTRIES = 20_000_000
/** The first word of a line in a file of hosts. */
const HOSTS_FILE = /^(0\.0\.0\.0|127\.0\.0\.1|::1?)\s+/

export interface ReadFeed {
  table: FeedTable
  /** Lines that are neither a host nor an address. */
  unread: number
}

/** Reads a feed file: a host, a host with a path or a URL in each line. Runs in a worker thread. */
export default async (path: string): Promise<ReadFeed> => {
  const names: string[] = []
  let unread = 0
  const file = await open(path)
  try {
    for await (const line of file.readLines({ encoding: 'utf8' })) {
      const text = line
        .replace(/#.*$|^[!;].*$/, '')
        .replace(HOSTS_FILE, '')
        .trim()
      if (text === '') continue
      const name = text.length > MAX_LINE ? undefined : nameOf(text)
      if (name === undefined) unread++
      else if (names.length < MAX_ENTRIES) names.push(name)
    }
  } finally {
    await file.close()
  }
  return { table: feedTable(names), unread }
}

/** Most lines are plain names, which need no parsing. */
const PLAIN = /^(?!.*\.\d+$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/

function nameOf(text: string): string | undefined {
  if (PLAIN.test(text) && !text.includes('xn--')) return text
  const entry = readEntry(text)
  return entry && ('host' in entry ? entry.host : entry.prefix)
}
