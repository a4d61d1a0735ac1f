import { AsyncLocalStorage } from 'node:async_hooks'

/** The time that PostgreSQL and the client give to a statement. */
export interface Budget {
  /** PostgreSQL ends a statement after this time. */
  statementMs: number
  /** PostgreSQL ends a statement that waits this long for a lock. */
  lockMs: number
  /** The client closes a connection that is silent for this long. */
  silenceMs: number
}

// A server that lives has ended the statement by then and says so.
const GRACE_MS = 2000
const LOCK_SHARE = 0.9

export const budgetOf = (seconds: number): Budget => ({
  statementMs: seconds * 1000,
  lockMs: Math.round(seconds * 1000 * LOCK_SHARE),
  silenceMs: seconds * 1000 + GRACE_MS,
})

const long = new AsyncLocalStorage<{ owner: string | undefined }>()

/**
 * Runs work whose statements may take long, such as a report or a retention run: its statements use
 * connections of their own with the budget of DATABASE_LONG_TIMEOUT. Requests of one owner, usually an
 * organization, never occupy all of them.
 */
export const patiently = <Result>(work: () => Result, owner?: string): Result =>
  long.run({ owner }, work)

export const isPatient = (): boolean => long.getStore() !== undefined

/** The owner of the long work that runs now. */
export const longOwner = (): string | undefined => long.getStore()?.owner
