import { parseArgs } from 'node:util'
import { readConfig } from '../config/index.ts'
import { keptSecret } from '../database/data-dir.ts'
import { requireMigrated } from '../database/migrate.ts'
import { verifyRootKey } from '../database/root-key.ts'
import { rescueByCommand } from '../features/platform/operators/operators.command.ts'
import { vault } from '../lib/vault.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

export async function operatorCommands([verb, ...args]: string[]): Promise<void> {
  if (verb !== 'rescue') throw new UsageError('operators takes rescue')
  return rescue(args)
}

/** Needs access to the host and no login, so that the last owner can come back. */
async function rescue(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      reason: { type: 'string', default: 'rescued on the command line' },
      json: { type: 'boolean', default: false },
    },
  })
  const [sent, ...more] = positionals
  if (sent === undefined || more.length > 0) {
    throw new UsageError('operators rescue takes one EMAIL')
  }
  const email = sent.trim().toLowerCase()
  const config = readConfig()
  const rescued = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    const sealing = vault(config.SVC_SECRET_KEY ?? keptSecret(config.DATA_DIR, 'secret-key'))
    await verifyRootKey(db, sealing, config)
    return rescueByCommand(db, { config, vault: sealing, email, reason: values.reason })
  })
  if (rescued === 'unknown') throw new StartupError(`there is no operator ${email}`)
  if (rescued === 'deactivated') {
    throw new StartupError(`the operator ${email} is deactivated; an owner can activate it again`)
  }
  print(rescued, values.json)
}
