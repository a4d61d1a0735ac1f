import type { LoggedServer } from '../../../mail/server-logs.ts'
import { logClock } from '../../mail-log/log-time.ts'
import { type Level, type LogEntry, redacted } from './log-entry.ts'

const LEVELS: Record<string, Level> = {
  debug: 'DEBUG',
  info: 'INFO',
  warning: 'WARNING',
  error: 'ERROR',
  fatal: 'CRITICAL',
  panic: 'CRITICAL',
}
// `Nov 16 08:00:01 mx postfix/smtpd[123]: …`, or with an ISO time.
const SYSLOG = /^(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\S+) \S+ (postfix|dovecot|rspamd)\b\S*: /
// Dovecot's own file: `2026-11-16T08:00:01Z imap-login: Info: …`
const DOVECOT = /^\d{4}-\S+ (?:[^:]|:(?! ))*: (Debug|Info|Warning|Error|Fatal|Panic): /
// Rspamd's own file: `2026-11-16 08:00:01 #123(normal) <tag>; task; …`
const RSPAMD = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d+)? #/

/**
 * Reads lines of a mail server; times without a zone are UTC. Undefined for a line of another server,
 * when several log to one file.
 */
export function mailServerLines(server: LoggedServer, now: () => Date) {
  const timeOf = logClock(now)
  return (line: string): LogEntry | undefined => {
    const [start = '', owner] = SYSLOG.exec(line) ?? []
    if (owner !== undefined && owner !== server) return undefined
    const time = rspamdTime(line) ?? timeOf(line)
    return {
      timestamp: time === undefined ? null : new Date(time).toISOString(),
      level: time === undefined ? null : levelOf(server, line, start.length),
      correlation_id: null,
      message: () => redacted(line),
    }
  }
}

function rspamdTime(line: string): number | undefined {
  const [found, day, time] = RSPAMD.exec(line) ?? []
  return found === undefined ? undefined : Date.parse(`${day}T${time}Z`)
}

/** Postfix and Dovecot write the level as a word, Postfix only from a warning on. Rspamd has none. */
function levelOf(server: LoggedServer, line: string, at: number): Level | null {
  if (server === 'rspamd') return null
  if (server === 'dovecot') {
    const word = DOVECOT.exec(line)?.[1] ?? /: (Debug|Warning|Error|Fatal|Panic): /.exec(line)?.[1]
    return LEVELS[word?.toLowerCase() ?? 'info'] ?? null
  }
  const [, word = 'info'] = /^(?:\w+: )?(warning|error|fatal|panic): /.exec(line.slice(at)) ?? []
  return LEVELS[word] ?? null
}
