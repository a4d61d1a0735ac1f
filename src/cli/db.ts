import { parseArgs } from 'node:util'
import { urlOf } from '../database/embedded.ts'
import { migrate, migrationStatus } from '../database/migrate.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

export async function databaseCommands([verb, ...args]: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } })
  switch (verb) {
    case 'url': {
      const url = await withDatabase(async (_database, target) => urlOf(target))
      if (values.json) print({ url }, true)
      else process.stdout.write(`${url}\n`)
      return
    }
    case 'migrate': {
      const applied = await withDatabase(({ sql }) => migrate(sql))
      print(values.json ? { applied } : applied.map((name) => ({ applied: name })), values.json)
      return
    }
    case 'status': {
      const migrations = await withDatabase(({ sql }) => migrationStatus(sql))
      print(
        migrations.map((migration) => ({ ...migration })),
        values.json,
      )
      return
    }
    default:
      throw new UsageError('db takes url, migrate or status')
  }
}
