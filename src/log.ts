import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  renameSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'

const LIMITS = { maxBytes: 16 * 1024 * 1024, keptFiles: 5 }
const FLUSH_MS = 250
const FLUSH_BYTES = 64 * 1024

export type Log = Logger

export interface ServiceLog {
  log: Log
  close(): void
}

/** One JSON line per entry, in `DATA_DIR/logs/<service>.log`. */
export function serviceLog(service: string, config: Config): ServiceLog {
  const file = rotatingFile(join(config.DATA_DIR, 'logs', `${service}.log`))
  const write = config.SVC_LOG_STDOUT
    ? (line: string) => {
        file.write(line)
        process.stdout.write(line)
      }
    : file.write
  const log = pino(
    {
      level: config.SVC_LOG_LEVEL,
      base: { service },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    { write },
  )
  return { log, close: file.close }
}

/** PostgreSQL's errors carry the query and its parameters; only what is safe is written. */
const describeError = (error: Error & { code?: string }) => ({
  type: error.name,
  message: error.message,
  ...(error.code !== undefined && { code: error.code }),
  stack: error.stack,
})

/** One listener for all logs: every daemon of a process has one. */
const atExit = new Set<() => void>()
process.once('exit', () => {
  for (const flush of atExit) flush()
})

/**
 * Lines are gathered and written a few times a second; at exit the rest is written at once. Several
 * processes may share a file: each notices when another has moved it away.
 */
export function rotatingFile(path: string, { maxBytes, keptFiles } = LIMITS) {
  let fd = openSync(path, 'a', 0o600)
  let lines: string[] = []
  let bytes = 0

  const reopen = () => {
    closeSync(fd)
    fd = openSync(path, 'a', 0o600)
  }
  const rotate = () => {
    if (!existsSync(path) || statSync(path).ino !== fstatSync(fd).ino) return reopen()
    if (fstatSync(fd).size < maxBytes) return
    for (let index = keptFiles - 1; index >= 1; index--) {
      if (existsSync(`${path}.${index}`)) renameSync(`${path}.${index}`, `${path}.${index + 1}`)
    }
    renameSync(path, `${path}.1`)
    reopen()
  }
  // Written at once: a write that is still under way when the process exits may be lost.
  const flush = () => {
    if (bytes === 0) return
    const text = lines.join('')
    lines = []
    bytes = 0
    try {
      appendFileSync(fd, text)
      rotate()
    } catch {
      // The disk is full or the folder gone: better without a log than without a service.
    }
  }
  const timer = setInterval(flush, FLUSH_MS)
  timer.unref()
  atExit.add(flush)

  return {
    write(line: string) {
      lines.push(line)
      bytes += line.length
      if (bytes >= FLUSH_BYTES) flush()
    },
    close() {
      clearInterval(timer)
      atExit.delete(flush)
      flush()
      closeSync(fd)
      // Its number may soon be that of another file.
      fd = -1
    },
  }
}
