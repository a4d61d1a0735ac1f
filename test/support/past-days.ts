import type { Core } from '../../src/core.ts'
import { mailLog } from '../../src/features/mail-log/mail-log.days.ts'
import { moveDays } from '../../src/features/mail-log/past-days/move-days.ts'
import { MINUTE_MS } from '../../src/lib/time.ts'
import { startApp } from './app.ts'
import type { startClickHouse } from './clickhouse.ts'
import { daysOf } from './days.ts'

export const TRACE = '/api/v1/message-trace/trace'
export const MESSAGES = '/api/v1/messages/'

let databases = 0

/**
 * An app with two tenants and a database of its own in ClickHouse, perhaps through the port of a proxy. Its
 * worker moves no day; the test does.
 */
export async function startPastDays(
  clickhouse: Awaited<ReturnType<typeof startClickHouse>>,
  { through, env = {} }: { through?: number; env?: Record<string, string> } = {},
) {
  const database = `log_${++databases}`
  const app = await startApp({
    env: {
      MAIL_LOG_CLICKHOUSE_URL: await clickhouse.database(database, through),
      MAIL_LOG_CLICKHOUSE_AFTER_DAYS: '36500',
      MAIL_LOG_RETENTION_DAYS: '0',
      ...env,
    },
  })
  const operator = await app.operator('owner')
  const acme = await app.tenant('acme')
  const globex = await app.tenant('globex')
  const days = daysOf(() => app, mailLog)

  const moving = (): Core => ({
    ...app.core,
    config: { ...app.core.config, MAIL_LOG_CLICKHOUSE_AFTER_DAYS: 7 },
  })
  const copy = async (core = moving()) => {
    while (await moveDays.round(core)) {}
  }
  return {
    app,
    operator,
    acme,
    globex,
    ...days,
    dateOf: (day: number) => days.at(day).toISOString().slice(0, 10),
    /** A delivered message to a mailbox of acme, at noon of a day. */
    row: (id: string, day: number, more: Record<string, unknown> = {}) => ({
      id,
      timestamp: `${days.at(day).toISOString().slice(0, 10)}T12:00:00.123456Z`,
      sender: 'ann@elsewhere.test',
      recipient: acme.email,
      organization_id: acme.organizationId,
      status: 'delivered' as const,
      ...more,
    }),
    insert: (rows: { id: string; timestamp: string; status: 'delivered' }[]) =>
      app.core.db.insertInto('mail_log').values(rows).execute(),
    /** The core of a process that moves days of more than a week ago. */
    moving,
    /** Copies the days that are due. */
    copy,
    /** Copies the days that are due, lets the copies settle, and moves them. */
    async move(core = moving()) {
      await copy(core)
      app.clock.advance(3 * MINUTE_MS)
      await copy(core)
    },
    /** The ids of all rows that are in ClickHouse. */
    async inClickHouse(): Promise<string[]> {
      const ids = await clickhouse.ask(`select id from ${database}.mail_log order by id`)
      return ids === '' ? [] : ids.split('\n')
    },
  }
}
