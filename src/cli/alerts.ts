import { parseArgs } from 'node:util'
import { requireMigrated } from '../database/migrate.ts'
import { addDefaultsByCommand, rulesWithState } from '../features/platform/alerts/alerts.command.ts'
import { isEmailAddress } from '../lib/email.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

export async function alertCommands([verb, ...args]: string[]): Promise<void> {
  switch (verb) {
    case 'list':
      return list(args)
    case 'add-defaults':
      return addDefaults(args)
    default:
      throw new UsageError('alerts takes list or add-defaults')
  }
}

/** Prints all rules, and since when each one fires. */
async function list(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } })
  const rows = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return rulesWithState(db)
  })
  print(rows, values.json)
}

async function addDefaults(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { email: { type: 'string' }, json: { type: 'boolean', default: false } },
  })
  const { email } = values
  if (email !== undefined && !isEmailAddress(email)) {
    throw new UsageError('--email must be an e-mail address')
  }
  const added = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return addDefaultsByCommand(db, email, new Date())
  })
  print(
    added.map(({ id, name, severity }) => ({ id, name, severity })),
    values.json,
  )
}
