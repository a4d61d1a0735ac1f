import { writeFileSync } from 'node:fs'
import type { Sql } from 'postgres'
import { connect, EMBEDDED_NAME, type Target } from '../database/database.ts'
import { urlOf } from '../database/embedded.ts'
import { hostsOf } from '../database/hosts.ts'
import { findPrimary } from '../database/primary.ts'
import type { Vault } from '../lib/vault.ts'
import { StartupError } from '../startup-error.ts'
import { SYSTEM_ROOTS } from './settings.ts'

const EDGE_ROLE = 'mailplane_edge'
const LIST_REFUSED =
  'Postfix and Dovecot need one address of the database, not a list of hosts: set EDGE_DATABASE_URL to a proxy on the mail host that leads to the primary; see docs/database-failover.md'

/** The connection of the mail servers to the database. */
export interface DatabaseAddress {
  host: string
  port: number
  name: string
  user: string
  password: string
  /** The mode of TLS as in a connection string of libpq; undefined for its default. */
  sslMode?: string
}

/**
 * The password of the role, derived from the root key: it needs no storage, and every process and
 * every rendered configuration of one installation has the same one.
 */
export const edgePassword = (vault: Vault): string =>
  vault.fingerprint('database role of the mail edge', EDGE_ROLE)

/**
 * The database as the mail servers reach it; `override` is EDGE_DATABASE_URL. A list of hosts is refused:
 * Dovecot crashes with one in a connection, and with a connection for each it leaves a host that failed
 * alone for up to half an hour.
 */
export function databaseAddress(
  target: Target,
  override: string | undefined,
  password: string,
): DatabaseAddress {
  const login = { user: EDGE_ROLE, password }
  if (typeof target !== 'string' && override === undefined) {
    return { host: '127.0.0.1', port: target.port, name: EMBEDDED_NAME, ...login }
  }
  const { targets } = hostsOf(override ?? target)
  if (targets.length > 1) throw new StartupError(LIST_REFUSED)
  const { hostname, port, pathname, searchParams } = new URL(targets[0] as string)
  const sslMode = searchParams.get('sslmode')
  return {
    host: hostname.replace(/^\[|\]$/g, '') || '127.0.0.1',
    port: Number(port || 5432),
    name: decodeURIComponent(pathname.slice(1)) || EMBEDDED_NAME,
    ...login,
    ...(sslMode && { sslMode }),
  }
}

/** The parameters of TLS in a connection string of libpq, which has no roots of its own. */
export const tlsParameters = ({ sslMode }: DatabaseAddress): string[] => [
  ...(sslMode ? [`sslmode=${sslMode}`] : []),
  ...(sslMode?.startsWith('verify-') ? [`sslrootcert=${SYSTEM_ROOTS}`] : []),
]

/** `host:port`, with brackets around an IPv6 address. */
export const hostPort = ({ host, port }: { host: string; port: number }): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Creates the role if necessary and grants it access to the schema `edge`. */
export async function ensureEdgeRole(
  sql: Sql,
  target: Target,
  { password, statementFile }: { password: string; statementFile: string },
): Promise<void> {
  try {
    if (!(await canLogIn(await findPrimary(target), password))) await setPassword(sql, password)
    await sql.unsafe(GRANTS).simple()
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code !== INSUFFICIENT_PRIVILEGE) throw error
    const statement = `create role ${EDGE_ROLE} login password '${password}';\n${GRANTS}\n`
    writeFileSync(statementFile, statement, { mode: 0o600 })
    throw new StartupError(
      `the database refuses: ${message}; run ${statementFile} as a role that may create roles`,
    )
  }
}

/** Deletes the rights and quota usage that Dovecot stored for an edge that no longer exists. */
export const forgetEdge = (sql: Sql) =>
  sql.unsafe('truncate edge.user_shares, edge.anyone_shares, edge.quota_usage')

const INSUFFICIENT_PRIVILEGE = '42501'
const INVALID_PASSWORD = '28P01'
const INVALID_AUTHORIZATION = '28000'
const DUPLICATE_OBJECT = '42710'
const UNIQUE_VIOLATION = '23505'

const GRANTS = `
  grant usage on schema edge to ${EDGE_ROLE};
  grant execute on all functions in schema edge to ${EDGE_ROLE};
  alter default privileges in schema edge grant execute on functions to ${EDGE_ROLE};
  grant select, insert, update, delete
    on edge.quota_usage, edge.user_shares, edge.anyone_shares to ${EDGE_ROLE};`

async function canLogIn(target: Target, password: string): Promise<boolean> {
  // Over TCP, like the mail servers: a local socket may accept any password.
  const url = new URL(urlOf(target))
  url.username = EDGE_ROLE
  url.password = password
  const sql = connect(url.href, { max: 1 })
  try {
    await sql`select 1`
    return true
  } catch (error) {
    const { code = '' } = error as { code?: string }
    if (code === INVALID_PASSWORD || code === INVALID_AUTHORIZATION) return false
    throw error
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** CREATE ROLE takes no parameters. The password is hexadecimal and needs no escaping. */
async function setPassword(sql: Sql, password: string): Promise<void> {
  try {
    await sql.unsafe(`create role ${EDGE_ROLE} login password '${password}'`)
  } catch (error) {
    // Two processes that create the role at once: the second one gets a unique violation.
    const { code = '' } = error as { code?: string }
    if (code !== DUPLICATE_OBJECT && code !== UNIQUE_VIOLATION) throw error
    await sql.unsafe(`alter role ${EDGE_ROLE} login password '${password}'`)
  }
}
