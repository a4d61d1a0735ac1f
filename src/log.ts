import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  renameSync,
  statSync,
  write,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'

const MAX_FILE_BYTES = 16 * 1024 * 1024
const KEPT_FILES = 5
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

/**
 * Lines are gathered and written a few times a second; at exit the rest is written at once. Several
 * processes may share a file: each notices when another has moved it away.
 */
function rotatingFile(path: string) {
  let fd = openSync(path, 'a', 0o600)
  let lines: string[] = []
  let bytes = 0
  let writing = false

  const reopen = () => {
    closeSync(fd)
    fd = openSync(path, 'a', 0o600)
  }
  const rotate = () => {
    if (!existsSync(path) || statSync(path).ino !== fstatSync(fd).ino) return reopen()
    if (fstatSync(fd).size < MAX_FILE_BYTES) return
    for (let index = KEPT_FILES - 1; index >= 1; index--) {
      if (existsSync(`${path}.${index}`)) renameSync(`${path}.${index}`, `${path}.${index + 1}`)
    }
    renameSync(path, `${path}.1`)
    reopen()
  }
  const take = () => {
    const text = lines.join('')
    lines = []
    bytes = 0
    return text
  }
  const flush = () => {
    if (writing || bytes === 0) return
    writing = true
    write(fd, take(), () => {
      writing = false
      try {
        rotate()
      } catch {
        // The folder is gone or full; the next flush tries again.
      }
      if (bytes >= FLUSH_BYTES) flush()
    })
  }
  const timer = setInterval(flush, FLUSH_MS)
  timer.unref()
  const flushNow = () => {
    if (bytes > 0) writeSync(fd, take())
  }
  process.once('exit', flushNow)

  return {
    write(line: string) {
      lines.push(line)
      bytes += line.length
      if (bytes >= FLUSH_BYTES) flush()
    },
    close() {
      clearInterval(timer)
      process.off('exit', flushNow)
      flushNow()
    },
  }
}
