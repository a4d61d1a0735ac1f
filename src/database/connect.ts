import postgres, { type Options, type Sql } from 'postgres'
import { columnTypes } from './column-types.ts'

/** The address of PostgreSQL: a URL, or the socket folder and port of an embedded server. */
export type Target = string | { host: string; port: number; password: string }

export function connect(target: Target, options: Options<Record<string, never>>): Sql {
  const shared = {
    // Pipelining puts a point select behind any slow query that was sent before it.
    max_pipeline: 1,
    connect_timeout: 5,
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 2),
    onnotice: () => {},
    // postgres.js does not handle a failure of its own query for array types: when the server restarts
    // at that moment the process ends with an unhandled rejection. `columnTypes` has the arrays we use.
    fetch_types: false,
    types: columnTypes,
    ...options,
  } as unknown as Options<Record<string, never>>
  return typeof target === 'string'
    ? postgres(target, shared)
    : postgres({ database: EMBEDDED_NAME, ...shared, ...target, user: EMBEDDED_NAME })
}

/** Role and database of the embedded server. */
export const EMBEDDED_NAME = 'mailplane'
