import { parseDatabaseHosts } from '../lib/database-hosts.ts'
import type { Variable } from './env.ts'

/** The URL of PostgreSQL, with one host or a list of hosts. */
export const databaseUrl = (description: string): Variable<string | undefined> => ({
  description,
  fallback: undefined,
  expected: 'an address that starts with postgres:// or postgresql://',
  parse: (value) => (parseDatabaseHosts(value) ? value : undefined),
})
