import { parseArgs } from 'node:util'
import { listKeys } from '../access/api-keys.ts'
import { readConfig } from '../config/index.ts'
import { requireMigrated } from '../database/migrate.ts'
import { createByCommand, revokeByCommand } from '../features/api-keys/api-keys.command.ts'
import { parseIso } from '../lib/dates.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

const KEY_ID = /^[\w-]{8}_[0-9A-Z]{26}$/

export async function keyCommands([verb, ...args]: string[]): Promise<void> {
  switch (verb) {
    case 'create':
      return create(args)
    case 'list':
      return list(args)
    case 'revoke':
      return revoke(args)
    default:
      throw new UsageError('keys takes create, list or revoke')
  }
}

async function create(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      organization: { type: 'string' },
      name: { type: 'string' },
      'read-only': { type: 'boolean', default: false },
      admin: { type: 'boolean', default: false },
      scope: { type: 'string', default: 'organization' },
      'expires-at': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const { scope, organization, name } = values
  if (!name) throw new UsageError('--name is missing')
  if (scope !== 'organization' && scope !== 'platform') {
    throw new UsageError('--scope must be organization or platform')
  }
  if (organization === undefined && scope === 'organization')
    throw new UsageError('--organization is missing')
  const expiresAt = values['expires-at'] === undefined ? null : parseIso(values['expires-at'])
  if (expiresAt === undefined) throw new UsageError('--expires-at must be an ISO date or datetime')

  const key = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    if (organization !== undefined) {
      const row = await db
        .selectFrom('organizations')
        .select('id')
        .where('id', '=', organization)
        .executeTakeFirst()
      if (!row) throw new StartupError(`there is no organization ${organization}`)
    }
    return createByCommand(db, readConfig(), {
      name,
      organizationId: organization ?? null,
      scope,
      permissions: { read_only: values['read-only'], admin_access: values.admin },
      expiresAt,
    })
  })
  print(key, values.json)
}

async function list(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { organization: { type: 'string' }, json: { type: 'boolean', default: false } },
  })
  const keys = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return listKeys(db, values.organization)
  })
  print(keys, values.json)
}

async function revoke(args: string[]): Promise<void> {
  // Not parseArgs: one key id in 64 begins with a dash and would be read as an option.
  const at = args.indexOf('--reason')
  const reason = at === -1 ? undefined : args[at + 1]
  if (at !== -1 && !reason?.trim()) throw new UsageError('--reason needs a text')
  const rest = at === -1 ? args : args.toSpliced(at, 2)
  const [keyId, ...more] = rest.filter((arg) => arg !== '--json' && arg !== '--')
  const isOption = keyId?.startsWith('-') && !KEY_ID.test(keyId)
  if (keyId === undefined || isOption || more.length > 0) {
    throw new UsageError('keys revoke takes one KEY_ID')
  }
  const isRevoked = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return revokeByCommand(db, readConfig(), keyId, reason)
  })
  if (!isRevoked) throw new StartupError(`there is no key ${keyId}`)
  print({ key_id: keyId, active: false }, args.includes('--json'))
}
