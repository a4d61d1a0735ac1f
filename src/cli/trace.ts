import { parseArgs } from 'node:util'
import { readConfig } from '../config/index.ts'
import { requireMigrated } from '../database/migrate.ts'
import { recordTrace } from '../features/message-trace/trace.command.ts'
import type { Attempt, TraceFilter } from '../features/message-trace/trace.repository.ts'
import { traceService } from '../features/message-trace/trace.service.ts'
import { clickHouseOf } from '../outbound/clickhouse.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

const LIMIT = 50
const MAX_LIMIT = 500
const STATUSES = ['delivered', 'bounced', 'deferred', 'rejected', 'held'] as const

/** Finds messages, and which login sent them. */
export async function traceCommand(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      login: { type: 'string' },
      sender: { type: 'string' },
      recipient: { type: 'string' },
      'message-id': { type: 'string' },
      status: { type: 'string' },
      since: { type: 'string' },
      until: { type: 'string' },
      limit: { type: 'string', default: String(LIMIT) },
      json: { type: 'boolean', default: false },
    },
  })
  const { login, sender, recipient, since, until } = values
  const messageId = values['message-id']
  const filter = {
    ...(login !== undefined && { login }),
    ...(sender !== undefined && { sender }),
    ...(recipient !== undefined && { recipient }),
    ...(messageId !== undefined && { message_id: messageId }),
    ...(values.status !== undefined && { status: statusOf(values.status) }),
    ...(since !== undefined && { start_date: since }),
    ...(until !== undefined && { end_date: until }),
  }
  const slice = { limit: limitOf(values.limit), offset: 0 }
  const { rows } = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    const clickhouse = clickHouseOf(readConfig(), {
      warn: ({ reason }, message) => process.stderr.write(`${message}: ${reason}\n`),
    })
    try {
      const found = await traceService({ db, clickhouse }).search(filter, slice)
      await recordTrace(db, filter)
      return found
    } finally {
      clickhouse?.close()
    }
  })
  print(values.json ? rows : rows.map(shownOf), values.json)
}

/** The columns that fit on a screen. */
const shownOf = (row: Attempt) => {
  const { timestamp, status, login, sender, recipient, queue_id, message_id } = row
  return { timestamp, status, login, sender, recipient, queue_id, message_id }
}

function statusOf(text: string): NonNullable<TraceFilter['status']> {
  const found = STATUSES.find((status) => status === text)
  if (!found) throw new UsageError(`--status must be one of ${STATUSES.join(', ')}`)
  return found
}

function limitOf(text: string): number {
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new UsageError(`--limit must be a number from 1 to ${MAX_LIMIT}`)
}
