import { parseArgs } from 'node:util'
import { readConfig } from '../config/index.ts'
import { requireMigrated } from '../database/migrate.ts'
import { testByCommand } from '../features/platform/system-mail/system-mail.command.ts'
import { isEmailAddress } from '../lib/email.ts'
import { watchMailServers } from '../mail/mail-servers.ts'
import { mailer } from '../mail/mailer.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

/** Sends a test mail with the settings that the server would use. */
export async function systemMailCommands([verb, ...args]: string[]): Promise<void> {
  if (verb !== 'test') throw new UsageError('system-mail takes test')
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false } },
  })
  const [to, ...more] = positionals
  if (to === undefined || more.length > 0 || !isEmailAddress(to)) {
    throw new UsageError('system-mail test takes one EMAIL')
  }
  const config = readConfig()
  const servers = watchMailServers(config)
  try {
    const result = await withDatabase(async ({ db, sql }) => {
      await requireMigrated(sql)
      return testByCommand(db, mailer(config, servers), to)
    })
    if (result.error !== null) throw new StartupError(`the mail was not sent: ${result.error}`)
    print(result, values.json)
  } finally {
    servers.close()
  }
}
