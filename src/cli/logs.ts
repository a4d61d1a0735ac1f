import { parseArgs } from 'node:util'
import { type Config, readConfig } from '../config/index.ts'
import { requireMigrated } from '../database/migrate.ts'
import { ApiError } from '../errors.ts'
import { auditReading } from '../features/platform/logs/logs.command.ts'
import { logsService } from '../features/platform/logs/logs.service.ts'
import { watchMailServers } from '../mail/mail-servers.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

/** Prints the newest log lines of this host as the console shows them, without secrets. */
export async function logsCommand(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      service: { type: 'string' },
      level: { type: 'string' },
      q: { type: 'string' },
      since: { type: 'string' },
      lines: { type: 'string', default: '100' },
      json: { type: 'boolean', default: false },
    },
  })
  const { json, lines, ...filter } = values
  if (!/^[1-9]\d{0,5}$/.test(lines)) throw new UsageError('--lines must be a number from 1')
  const found = await read(readConfig(), { ...filter, lines: Number(lines) })
  await audit(filter)
  if (json) return print(found.lines, true)
  for (const { timestamp, service, message } of found.lines) {
    process.stdout.write(`${timestamp ?? '-'} ${service} ${message}\n`)
  }
}

async function read(config: Config, query: Parameters<ReturnType<typeof logsService>['tail']>[0]) {
  const mailServers = watchMailServers(config)
  try {
    const now = () => new Date()
    return await logsService({ config, helper: undefined, mailServers, now }).tail(query)
  } catch (error) {
    throw error instanceof ApiError ? new StartupError(error.message) : error
  } finally {
    mailServers.close()
  }
}

/** Logs are read above all when something is down, so a missing database does not hide them. */
async function audit(filter: Record<string, unknown>): Promise<void> {
  try {
    await withDatabase(async ({ db, sql }) => {
      await requireMigrated(sql)
      await auditReading(db, filter)
    })
  } catch {
    process.stderr.write('The database does not answer, so this has no audit row.\n')
  }
}
