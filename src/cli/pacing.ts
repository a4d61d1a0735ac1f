import { parseArgs } from 'node:util'
import type { Db } from '../database/database.ts'
import { requireMigrated } from '../database/migrate.ts'
import { ApiError } from '../errors.ts'
import { limitsOf } from '../features/reputation/optimizer/limits.repository.ts'
import * as pacing from '../features/reputation/optimizer/pacing.command.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

type Row = Record<string, unknown>

const OPTIONS = {
  target: { type: 'string' },
  days: { type: 'string' },
  organization: { type: 'string' },
  hourly: { type: 'string' },
  daily: { type: 'string' },
  burst: { type: 'string' },
  delay: { type: 'string' },
  reason: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

interface Sent {
  values: { [Name in keyof typeof OPTIONS]?: string | boolean }
  name: string
}

export async function warmUpCommands([verb, ...args]: string[]): Promise<void> {
  switch (verb) {
    case 'list':
      return list(args, (db) => pacing.warmUps(db, new Date()))
    case 'set':
      return change(args, ({ values, name }, db) => {
        const organization_id = text(values.organization) ?? null
        const target_daily_volume = required(values, 'target')
        const warmup_days = required(values, 'days')
        const schedule = { ip_address: name, organization_id, target_daily_volume, warmup_days }
        return pacing.beginWarmUp(db, schedule, why(values))
      })
    case 'pause':
    case 'resume':
      return change(args, ({ values, name }, db) =>
        pacing.alterWarmUp(db, name, { paused: verb === 'pause' }, why(values)),
      )
    case 'delete':
      return change(args, ({ values, name }, db) => pacing.endWarmUp(db, name, why(values)))
    default:
      throw new UsageError('warm-ups takes list, set, pause, resume or delete')
  }
}

export async function limitCommands([verb, ...args]: string[]): Promise<void> {
  switch (verb) {
    case 'list':
      return list(args, (db) => limitsOf(db))
    case 'set':
      return change(args, ({ values, name }, db) => {
        const limit = {
          ...(values.hourly !== undefined && { hourly_limit: required(values, 'hourly') }),
          ...(values.daily !== undefined && { daily_limit: required(values, 'daily') }),
          ...(values.burst !== undefined && { burst_limit: required(values, 'burst') }),
          ...(values.delay !== undefined && { delay_ms: required(values, 'delay') }),
        }
        if (Object.keys(limit).length === 0) throw new UsageError('a limit is missing')
        return pacing.setLimit(db, name, limit, why(values))
      })
    case 'delete':
      return change(args, ({ values, name }, db) => pacing.removeLimit(db, name, why(values)))
    default:
      throw new UsageError('isp-limits takes list, set or delete')
  }
}

async function list(args: string[], read: (db: Db) => Promise<Row[]>): Promise<void> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } })
  const rows = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return read(db)
  })
  print(rows, values.json)
}

/** Checks the arguments before the database is opened. */
async function change(args: string[], work: (sent: Sent, db: Db) => Promise<Row>): Promise<void> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS })
  const [name, ...more] = positionals
  if (name === undefined || more.length > 0) throw new UsageError('one name is needed')
  if (!values.reason?.trim()) throw new UsageError('--reason is missing')
  const row = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return work({ values, name }, db).catch(explain)
  })
  print(row, values.json)
}

/** The errors of the API are sentences that make sense here too. */
function explain(error: unknown): never {
  throw error instanceof ApiError ? new StartupError(error.message) : error
}

const text = (value: string | boolean | undefined) =>
  typeof value === 'string' ? value : undefined

const why = ({ reason }: Sent['values']) => ({ reason: text(reason) ?? '', now: new Date() })

function required(values: Sent['values'], name: keyof typeof OPTIONS): number {
  const value = Number(text(values[name]))
  const least = name === 'target' || name === 'days' ? 1 : 0
  if (Number.isInteger(value) && value >= least && value <= 100_000_000) return value
  throw new UsageError(`--${name} must be a whole number from ${least}`)
}
