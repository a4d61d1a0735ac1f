import { DatabaseUnavailable } from '../errors.ts'

/** The client gave up: the server did not answer in time, or no connection became free. */
export class NoAnswer extends Error {
  readonly code = 'DATABASE_TIMEOUT'
}

const CODES = new Set([
  'DATABASE_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  // A replica: the primary has changed.
  '25006',
  // A deadlock: PostgreSQL ended this transaction, and the other one continues.
  '40P01',
  // statement_timeout and lock_timeout.
  '57014',
  '55P03',
])

/** Classes of SQLSTATE: lost connections and operator intervention (shutdown, crash, starting). */
const CLASSES = /^(08|57P)/

/** Refusals of the server to open or keep a connection have the severity FATAL. */
export function asUnavailable(error: unknown): unknown {
  const { code = '', severity } = error as { code?: string; severity?: string }
  const isOutage =
    CODES.has(code) || CLASSES.test(code) || severity === 'FATAL' || severity === 'PANIC'
  return isOutage ? new DatabaseUnavailable(error as Error) : error
}
