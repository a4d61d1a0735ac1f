import { writeFileSync } from 'node:fs'
import type { Sql } from 'postgres'
import { connect, EMBEDDED_NAME, type Target } from '../database/database.ts'
import { urlOf } from '../database/embedded.ts'
import type { Vault } from '../lib/vault.ts'
import { StartupError } from '../startup-error.ts'

export const EDGE_ROLE = 'mailplane_edge'

/** How the mail servers reach the database. */
export interface DatabaseAddress {
  host: string
  port: number
  name: string
  user: string
  password: string
}

/**
 * The password of the role follows from the root key: nothing has to be kept, and every process and
 * every rendering of one installation agrees on it.
 */
export const edgePassword = (vault: Vault): string =>
  vault.fingerprint('database role of the mail edge', EDGE_ROLE)

/** Where the mail servers find the database that is reached like this, or at an address given for them. */
export function databaseAddress(
  target: Target,
  override: string | undefined,
  password: string,
): DatabaseAddress {
  const who = { user: EDGE_ROLE, password }
  if (typeof target !== 'string' && override === undefined) {
    return { host: '127.0.0.1', port: target.port, name: EMBEDDED_NAME, ...who }
  }
  const url = new URL(override ?? (target as string))
  return {
    host: url.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1',
    port: Number(url.port || 5432),
    name: decodeURIComponent(url.pathname.slice(1)) || EMBEDDED_NAME,
    ...who,
  }
}

/** Makes the role if need be, and lets it use what the schema `edge` offers. */
export async function ensureEdgeRole(
  sql: Sql,
  target: Target,
  { password, statementFile }: { password: string; statementFile: string },
): Promise<void> {
  try {
    if (!(await canLogIn(target, password))) await setPassword(sql, password)
    await sql.unsafe(GRANTS).simple()
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code !== INSUFFICIENT_PRIVILEGE) throw error
    const statement = `create role ${EDGE_ROLE} login password '${password}';\n${GRANTS}\n`
    writeFileSync(statementFile, statement, { mode: 0o600 })
    throw new StartupError(
      `the database refuses: ${message}; let somebody who may make roles run ${statementFile}`,
    )
  }
}

/** What Dovecot was told and has told, in a mail host that has just been removed or never was. */
export const forgetEdge = (sql: Sql) =>
  sql.unsafe('truncate edge.user_shares, edge.anyone_shares, edge.quota_usage')

const INSUFFICIENT_PRIVILEGE = '42501'
const INVALID_PASSWORD = '28P01'
const INVALID_AUTHORIZATION = '28000'
const DUPLICATE_OBJECT = '42710'

const GRANTS = `
  grant usage on schema edge to ${EDGE_ROLE};
  grant execute on all functions in schema edge to ${EDGE_ROLE};
  alter default privileges in schema edge grant execute on functions to ${EDGE_ROLE};
  grant select, insert, update, delete
    on edge.quota_usage, edge.user_shares, edge.anyone_shares to ${EDGE_ROLE};`

async function canLogIn(target: Target, password: string): Promise<boolean> {
  // Over the network, as the mail servers do: a local socket may be open to anybody.
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

/** The password is hexadecimal and cannot end its literal; a statement like this takes no parameters. */
async function setPassword(sql: Sql, password: string): Promise<void> {
  try {
    await sql.unsafe(`create role ${EDGE_ROLE} login password '${password}'`)
  } catch (error) {
    if ((error as { code?: string }).code !== DUPLICATE_OBJECT) throw error
    await sql.unsafe(`alter role ${EDGE_ROLE} login password '${password}'`)
  }
}
