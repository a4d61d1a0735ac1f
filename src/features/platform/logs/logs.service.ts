import { join } from 'node:path'
import type { Core } from '../../../core.ts'
import { defineError, Unprocessable } from '../../../errors.ts'
import { parseIso } from '../../../lib/dates.ts'
import { LEVELS, type Level, type LogEntry, readEntry } from './log-entry.ts'
import { discover, type Tail, tailOf } from './log-files.ts'

const DEFAULT_LINES = 500
const MAX_LINES = 2000

export const LogsUnavailable = defineError<string>({ status: 501, message: (text) => text })

interface Query {
  service?: string
  level?: string
  q?: string
  correlation_id?: string
  since?: string
  lines?: number
}

interface Found {
  service: string
  timestamp: string | null
  level: Level | null
  message: string
  correlation_id: string | null
  /** For the order: a line without a time of its own has that of the line above it. */
  at: string
}

export type LogsService = ReturnType<typeof logsService>

/** The logs that the services of this machine write, newest lines of all of them together. */
export const logsService = ({ config }: Pick<Core, 'config'>) => ({
  async tail(query: Query) {
    const wanted = readQuery(query)
    const files = await discover(join(config.DATA_DIR, 'logs'))
    const available_services = [...files.keys()]
    const chosen = query.service === undefined ? available_services : [query.service]
    const found: Found[] = []
    let isCut = false
    let isReadable = false
    for (const service of chosen) {
      const path = files.get(service)
      const tail = path === undefined ? undefined : await tailOf(path)
      if (!tail) continue
      isReadable = true
      const matches = search(service, tail, wanted)
      isCut ||= tail.isCut || matches.length > wanted.lines
      found.push(...matches)
    }
    if (!isReadable) {
      const which = query.service === undefined ? 'No log' : `No log of "${query.service}"`
      const known = available_services.join(', ') || 'none'
      throw new LogsUnavailable(`${which} can be read from this process; there are: ${known}`)
    }
    const lines = found
      .sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0))
      .slice(-wanted.lines)
      .map(({ at: _, ...line }) => line)
    return {
      lines,
      truncated: isCut || found.length > wanted.lines,
      source: 'files',
      available_services,
    }
  },
})

interface Wanted {
  least: number
  q: string | undefined
  correlationId: string | undefined
  since: string | undefined
  lines: number
}

function readQuery({ level, q, correlation_id, since, lines = DEFAULT_LINES }: Query): Wanted {
  const least = level === undefined ? -1 : LEVELS.indexOf(level.toUpperCase() as Level)
  if (level !== undefined && least === -1) {
    throw new Unprocessable(`level must be one of ${LEVELS.join(', ')}`)
  }
  const from = since === undefined ? undefined : parseIso(since)
  if (since !== undefined && !from) {
    throw new Unprocessable('since must be an ISO8601 date or datetime')
  }
  return {
    least,
    q: q?.toLowerCase(),
    correlationId: correlation_id,
    since: from?.toISOString(),
    lines: Math.min(lines, MAX_LINES),
  }
}

/** From the end, until there is one more than can be shown; oldest first. */
function search(service: string, { lines }: Tail, wanted: Wanted): Found[] {
  const found: Found[] = []
  /** Lines below the one that says when it was. */
  let pending: LogEntry[] = []
  for (let index = lines.length - 1; index >= 0 && found.length <= wanted.lines; index--) {
    const entry = readEntry(lines[index] as string)
    pending.push(entry)
    if (entry.timestamp === null && index > 0) continue
    const at = entry.timestamp ?? ''
    if (wanted.since !== undefined && at !== '' && at < wanted.since) break
    for (const one of pending) {
      const line = shown(service, one, at, wanted)
      if (line) found.push(line)
    }
    pending = []
  }
  return found.reverse()
}

/** Secrets are taken out before the text is searched, or a search could tell that one is there. */
function shown(service: string, entry: LogEntry, at: string, wanted: Wanted): Found | undefined {
  const { timestamp, level, correlation_id } = entry
  if (wanted.least >= 0 && (level === null || LEVELS.indexOf(level) < wanted.least)) return
  if (wanted.correlationId !== undefined && correlation_id !== wanted.correlationId) return
  const message = entry.message()
  if (wanted.q !== undefined && !message.toLowerCase().includes(wanted.q)) return
  return { timestamp, service, level, message, correlation_id, at }
}
