import { redact } from '../../../http/redact.ts'
import { redactText } from './redaction.ts'

export const LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const
export type Level = (typeof LEVELS)[number]

const NAMES: Record<string, Level> = {
  trace: 'DEBUG',
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARNING',
  error: 'ERROR',
  fatal: 'CRITICAL',
}
const MAX_LINE_LENGTH = 16 * 1024

export interface LogEntry {
  timestamp: string | null
  level: Level | null
  correlation_id: string | null
  /** Built on demand: most lines are filtered out before their text is needed. */
  message(): string
}

/** Parses a log line. A line that is not JSON, such as one of a stack trace, becomes the message. */
export function readEntry(line: string): LogEntry {
  const fields = parse(line)
  if (!fields) {
    return { timestamp: null, level: null, correlation_id: null, message: () => redacted(line) }
  }
  const { level, time, service: _, correlation_id, msg, ...rest } = fields
  return {
    timestamp: typeof time === 'string' ? time : null,
    level: NAMES[String(level)] ?? null,
    correlation_id: typeof correlation_id === 'string' ? correlation_id : null,
    message: () =>
      redacted([String(msg ?? ''), ...Object.entries(rest).map(formatField)].join(' ').trim()),
  }
}

export const redacted = (text: string) => redactText(text.slice(0, MAX_LINE_LENGTH))

function formatField([name, value]: [string, unknown]): string {
  const [safe] = Object.values(redact({ [name]: value }) as object)
  return `${name}=${typeof safe === 'string' ? safe : JSON.stringify(safe)}`
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
