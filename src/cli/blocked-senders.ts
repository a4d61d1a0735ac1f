import { parseArgs } from 'node:util'
import { requireMigrated } from '../database/migrate.ts'
import { unblockByCommand } from '../features/message-trace/blocked-senders.command.ts'
import * as blocks from '../features/message-trace/blocked-senders.repository.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

const EVERYTHING = { limit: 1000, offset: 0 }

export async function blockedSenderCommands([verb, ...args]: string[]): Promise<void> {
  switch (verb) {
    case 'list':
      return list(args)
    case 'unblock':
      return unblock(args)
    default:
      throw new UsageError('blocked-senders takes list or unblock')
  }
}

async function list(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { organization: { type: 'string' }, json: { type: 'boolean', default: false } },
  })
  const { organization } = values
  const filter = organization === undefined ? {} : { organization_id: organization }
  const { rows } = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return blocks.list(db, filter, EVERYTHING)
  })
  print(rows, values.json)
}

async function unblock(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { reason: { type: 'string' }, json: { type: 'boolean', default: false } },
  })
  const [blockId, ...more] = positionals
  if (blockId === undefined || more.length > 0) {
    throw new UsageError('blocked-senders unblock takes one BLOCK_ID')
  }
  const { reason } = values
  if (!reason?.trim()) throw new UsageError('--reason is missing')
  const removed = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return unblockByCommand(db, blockId, reason)
  })
  if (!removed) throw new StartupError(`there is no block ${blockId}`)
  const { id, organization_id, sender } = removed
  print({ id, organization_id, sender, blocked: false }, values.json)
}
