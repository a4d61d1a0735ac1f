import { parseArgs } from 'node:util'
import { requireMigrated } from '../database/migrate.ts'
import { liftByCommand } from '../features/security/throttles/throttles.command.ts'
import * as throttles from '../features/security/throttles/throttles.repository.ts'
import { targetOf } from '../features/security/throttles/throttles.service.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

const EVERYTHING = { offset: 0, page: 1, perPage: 1000 }

export async function throttleCommands([verb, ...args]: string[]): Promise<void> {
  switch (verb) {
    case 'list':
      return list(args)
    case 'lift':
      return lift(args)
    default:
      throw new UsageError('throttles takes list or lift')
  }
}

async function list(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } })
  const { items } = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return throttles.list(db, {}, EVERYTHING, new Date())
  })
  print(items, values.json)
}

/** Also the way back for an operator who is locked out: it needs no login. */
async function lift(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      account: { type: 'string' },
      ip: { type: 'string' },
      reason: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const { account, ip, reason } = values
  if ((account === undefined) === (ip === undefined)) {
    throw new UsageError('throttles lift takes either --account or --ip')
  }
  if (!reason?.trim()) throw new UsageError('--reason is missing')
  const target = targetSent(account, ip)
  const lifted = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return liftByCommand(db, target, reason, new Date())
  })
  if (lifted === 0) throw new StartupError('there is no active throttle or block of it')
  print({ ...target, lifted }, values.json)
}

function targetSent(account: string | undefined, ip: string | undefined) {
  try {
    return targetOf({
      ...(account !== undefined && { username: account }),
      ...(ip !== undefined && { client_ip: ip }),
    })
  } catch {
    throw new UsageError('--ip must be a valid IPv4 or IPv6 address')
  }
}
