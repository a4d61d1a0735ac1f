import { parseArgs } from 'node:util'
import { RULE_USES, type RuleUse } from '../access/address-rules.repository.ts'
import type { Db } from '../database/database.ts'
import { requireMigrated } from '../database/migrate.ts'
import { ApiError } from '../errors.ts'
import {
  addByCommand,
  deleteByCommand,
  listByCommand,
} from '../features/security/ip-rules/ip-rules.command.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

const OPTIONS = {
  organization: { type: 'string' },
  type: { type: 'string' },
  'applies-to': { type: 'string' },
  description: { type: 'string' },
  reason: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

/** Lets an organization in again that its own rules shut out, while no operator can log in. */
export async function ipRuleCommands([verb, ...args]: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS })
  const { json, organization } = values
  switch (verb) {
    case 'list': {
      const filter = organization === undefined ? {} : { organization_id: organization }
      return print(await using((db) => listByCommand(db, filter)), json)
    }
    case 'add': {
      const rule = {
        ip_address: only(positionals, 'ADDRESS'),
        organization_id: needed(organization, 'organization'),
        rule_type: typeOf(needed(values.type, 'type')),
        ...(values['applies-to'] !== undefined && { applies_to: usesOf(values['applies-to']) }),
        ...(values.description !== undefined && { description: values.description }),
      }
      const reason = needed(values.reason, 'reason')
      return print(await using((db) => addByCommand(db, rule, reason)), json)
    }
    case 'delete': {
      const id = only(positionals, 'RULE_ID')
      const reason = needed(values.reason, 'reason')
      return print(await using((db) => deleteByCommand(db, id, reason)), json)
    }
    default:
      throw new UsageError('ip-rules takes list, add or delete')
  }
}

/** The errors of the API are sentences that make sense here too. */
const using = <Result>(work: (db: Db) => Promise<Result>) =>
  withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    try {
      return await work(db)
    } catch (error) {
      throw error instanceof ApiError ? new StartupError(error.message) : error
    }
  })

function only([name, ...more]: string[], what: string): string {
  if (name !== undefined && more.length === 0) return name
  throw new UsageError(`one ${what} is needed`)
}

function needed(value: string | undefined, option: string): string {
  if (value?.trim()) return value
  throw new UsageError(`--${option} is missing`)
}

function typeOf(text: string): 'whitelist' | 'blacklist' {
  if (text === 'whitelist' || text === 'blacklist') return text
  throw new UsageError('--type must be whitelist or blacklist')
}

function usesOf(text: string): RuleUse[] {
  const sent = new Set(text.split(','))
  const uses = RULE_USES.filter((use) => sent.delete(use))
  if (uses.length > 0 && sent.size === 0) return uses
  throw new UsageError(`--applies-to takes ${RULE_USES.join(', ')}, separated by commas`)
}
