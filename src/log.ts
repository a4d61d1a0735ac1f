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
import type { Config } from './config/index.ts'

const LIMITS = { maxBytes: 16 * 1024 * 1024, maxFiles: 5 }
const FLUSH_MS = 250
const FLUSH_BYTES = 64 * 1024

export type Log = Logger

interface ServiceLog {
  log: Log
  close(): void
}

/**
 * Writes one JSON line per entry to `DATA_DIR/logs/<service>.log`. One of several processes that share
 * the file names itself in every line.
 */
export function serviceLog(service: string, config: Config, worker?: string): ServiceLog {
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
      base: { service, ...(worker !== undefined && { worker }) },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    { write },
  )
  return { log, close: file.close }
}

/** Errors of PostgreSQL carry the query and its parameters, so only these fields are logged. */
const describeError = (error: Error & { code?: string }) => ({
  type: error.name,
  message: error.message,
  ...(error.code !== undefined && { code: error.code }),
  stack: error.stack,
})

/** One exit listener for all log files of the process. */
const atExit = new Set<() => void>()
process.once('exit', () => {
  for (const flush of atExit) flush()
})

/**
 * Buffers lines and appends them to the file a few times a second; at exit it writes the rest. A full
 * file is renamed to `<path>.1`, `.1` to `.2`, and so on. Several processes may share a file: each
 * notices when another process, or logrotate, has renamed it. pino-roll does not do that, and it
 * changes the name of the current file with each rotation.
 */
export function rotatingFile(path: string, { maxBytes, maxFiles } = LIMITS) {
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
    for (let index = maxFiles - 1; index >= 1; index--) {
      if (existsSync(`${path}.${index}`)) renameSync(`${path}.${index}`, `${path}.${index + 1}`)
    }
    renameSync(path, `${path}.1`)
    reopen()
  }
  // Synchronous, because an asynchronous write may be lost when the process exits.
  const flush = () => {
    if (bytes === 0) return
    const text = lines.join('')
    lines = []
    bytes = 0
    try {
      appendFileSync(fd, text)
      rotate()
    } catch {
      // A full disk or a missing folder must not stop the service.
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
      // The number may be reused for another file.
      fd = -1
    },
  }
}
