import { parseArgs } from 'node:util'
import { readConfig } from '../config/index.ts'
import { keptSecret } from '../database/data-dir.ts'
import { requireMigrated } from '../database/migrate.ts'
import { exportArchive } from '../features/archive/export-archive.ts'
import { openStorages } from '../features/archive/storage/storage.ts'
import { vault } from '../lib/vault.ts'
import { dnsClient } from '../mail/dns.ts'
import { outboundGuard } from '../outbound/guard.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

/** `archive export`: writes the archive of an organization to a zip file. */
export async function archiveCommands(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      organization: { type: 'string' },
      out: { type: 'string' },
      reason: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const [action, ...more] = positionals
  if (action !== 'export' || more.length > 0) throw new UsageError('archive export is missing')
  const { organization, out, reason } = values
  if (organization === undefined) throw new UsageError('--organization is missing')
  if (out === undefined) throw new UsageError('--out is missing')
  if (reason === undefined) throw new UsageError('--reason is missing')
  const config = readConfig()
  const now = () => new Date()
  const withDns = dnsClient(config)
  const outbound = outboundGuard({
    allow: config.SVC_OUTBOUND_ALLOW,
    resolve: (name) => withDns((dns) => dns.addresses(name)),
  })
  const storages = openStorages({ config, outbound, now })
  const secrets = vault(config.SVC_SECRET_KEY ?? keptSecret(config.DATA_DIR, 'secret-key'))
  try {
    const counts = await withDatabase(async ({ db, sql }) => {
      await requireMigrated(sql)
      const needs = { config, db, now, vault: secrets, storages }
      return exportArchive(needs, { organizationId: organization, path: out, reason })
    })
    print({ path: out, ...counts }, values.json)
    if (counts.damaged > 0) throw new StartupError(`${counts.damaged} messages are damaged`)
  } finally {
    storages.close()
  }
}
