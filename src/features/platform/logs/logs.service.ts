import type { Core } from '../../../core.ts'
import { defineError, Unprocessable } from '../../../errors.ts'
import { parseIso } from '../../../lib/dates.ts'
import { LEVELS, type Level, type LogEntry, readEntry } from './log-entry.ts'
import { findLogs, type LogFile, type Tail, tailOf } from './log-files.ts'
import { mailServerLines } from './mail-server-line.ts'

const DEFAULT_LINES = 500
const MAX_LINES = 2000

export const LogsUnavailable = defineError<string>({ status: 501, message: (text) => text })

interface Query {
  service?: string
  source?: 'mailplane' | 'mail_servers'
  level?: string
  q?: string
  correlation_id?: string
  since?: string
  lines?: number
}

interface LogLine {
  service: string
  timestamp: string | null
  level: Level | null
  message: string
  correlation_id: string | null
  /** Sort key. A line without a time has the time of the line above it. */
  at: string
}

export type LogsService = ReturnType<typeof logsService>

/** Reads the newest log lines of the services and mail servers on this host, merged by time. */
export const logsService = (needs: Pick<Core, 'config' | 'helper' | 'mailServers' | 'now'>) => ({
  async tail(query: Query) {
    const criteria = readQuery(query)
    const logs = await findLogs(needs)
    const files = new Map([...logs].filter(([, log]) => isOf(query.source, log)))
    const available_services = [...files.keys()]
    const services = query.service === undefined ? available_services : [query.service]
    const merged: LogLine[] = []
    let isCut = false
    let isReadable = false
    for (const service of services) {
      const log = files.get(service)
      const tail = log && (await tailOf(log))
      if (!log || !tail) continue
      isReadable = true
      const read = log.server === undefined ? readEntry : mailServerLines(log.server, needs.now)
      const matches = search(service, tail, criteria, read)
      isCut ||= tail.isCut || matches.length > criteria.lines
      merged.push(...matches)
    }
    if (!isReadable) {
      const subject = query.service === undefined ? 'No log' : `No log of "${query.service}"`
      const available = available_services.join(', ') || 'none'
      throw new LogsUnavailable(`${subject} can be read from this process; there are: ${available}`)
    }
    const lines = merged
      .sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0))
      .slice(-criteria.lines)
      .map(({ at: _, ...line }) => line)
    return {
      lines,
      truncated: isCut || merged.length > criteria.lines,
      source: 'files',
      available_services,
    }
  },
})

const isOf = (source: Query['source'], { server }: LogFile): boolean =>
  source === undefined || (source === 'mail_servers') === (server !== undefined)

interface Criteria {
  minLevel: number
  q: string | undefined
  correlationId: string | undefined
  since: string | undefined
  lines: number
}

function readQuery({ level, q, correlation_id, since, lines = DEFAULT_LINES }: Query): Criteria {
  const minLevel = level === undefined ? -1 : LEVELS.indexOf(level.toUpperCase() as Level)
  if (level !== undefined && minLevel === -1) {
    throw new Unprocessable(`level must be one of ${LEVELS.join(', ')}`)
  }
  const from = since === undefined ? undefined : parseIso(since)
  if (since !== undefined && !from) {
    throw new Unprocessable('since must be an ISO8601 date or datetime')
  }
  return {
    minLevel,
    q: q?.toLowerCase(),
    correlationId: correlation_id,
    since: from?.toISOString(),
    lines: Math.min(lines, MAX_LINES),
  }
}

/**
 * Searches from the end until one line more than requested matches, which shows that the result is cut.
 * Returns the matches oldest first.
 */
function search(
  service: string,
  { lines }: Tail,
  criteria: Criteria,
  read: (line: string) => LogEntry | undefined,
): LogLine[] {
  const matches: LogLine[] = []
  // Lines without a time, such as a stack trace, wait for the time of the line above them.
  let pending: LogEntry[] = []
  for (let index = lines.length - 1; index >= 0 && matches.length <= criteria.lines; index--) {
    const entry = read(lines[index] as string)
    if (entry) pending.push(entry)
    const time = entry?.timestamp ?? null
    if (time === null && index > 0) continue
    const at = time ?? ''
    if (criteria.since !== undefined && at !== '' && at < criteria.since) break
    for (const pendingEntry of pending) {
      const line = match(service, pendingEntry, at, criteria)
      if (line) matches.push(line)
    }
    pending = []
  }
  return matches.reverse()
}

/** Searches the redacted message; otherwise a search could reveal that a secret is in the log. */
function match(
  service: string,
  entry: LogEntry,
  at: string,
  criteria: Criteria,
): LogLine | undefined {
  const { timestamp, level, correlation_id } = entry
  if (criteria.minLevel >= 0 && (level === null || LEVELS.indexOf(level) < criteria.minLevel))
    return
  if (criteria.correlationId !== undefined && correlation_id !== criteria.correlationId) return
  const message = entry.message()
  if (criteria.q !== undefined && !message.toLowerCase().includes(criteria.q)) return
  return { timestamp, service, level, message, correlation_id, at }
}
