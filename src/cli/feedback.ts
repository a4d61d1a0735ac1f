import { parseArgs } from 'node:util'
import { requireMigrated } from '../database/migrate.ts'
import { markByCommand } from '../features/reputation/feedback.command.ts'
import * as feedback from '../features/reputation/feedback.repository.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

const NEWEST = { by: 'created_at', direction: 'desc' } as const
const EVERYTHING = { offset: 0, page: 1, perPage: 1000 }

export async function feedbackCommands([verb, ...args]: string[]): Promise<void> {
  switch (verb) {
    case 'list':
      return list(args)
    case 'process':
    case 'reopen':
      return mark(args, verb === 'process')
    default:
      throw new UsageError('feedback takes list, process or reopen')
  }
}

async function list(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      all: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  const filter = values.all ? {} : { processed: false }
  const { items } = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return feedback.list(db, filter, NEWEST, EVERYTHING)
  })
  print(items, values.json)
}

async function mark(args: string[], processed: boolean): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { reason: { type: 'string' }, json: { type: 'boolean', default: false } },
  })
  const [id, ...more] = positionals
  if (id === undefined || more.length > 0) throw new UsageError('one FEEDBACK_ID is needed')
  const { reason } = values
  if (!reason?.trim()) throw new UsageError('--reason is missing')
  const report = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return markByCommand(db, { id, processed, reason }, new Date())
  })
  if (!report) throw new StartupError(`there is no feedback report ${id}`)
  const { isp_name, original_recipient, processed_at } = report
  print({ id, isp_name, original_recipient, processed, processed_at }, values.json)
}
