import type { Db, Tx } from '../../../database/database.ts'
import { auditCommand } from '../../../http/command-audit.ts'
import { addRule, type NewRule, refusingDuplicates, removeRule } from './ip-rule-changes.ts'
import * as rules from './ip-rules.repository.ts'

const NEWEST_FIRST = { by: 'created_at', direction: 'desc' } as const
const EVERYTHING = { page: 1, perPage: 1000, offset: 0 }

export const listByCommand = async (db: Db, filter: rules.IpRuleFilter) =>
  (await rules.list(db, filter, NEWEST_FIRST, EVERYTHING)).items

export const addByCommand = (db: Db, rule: NewRule, reason: string) =>
  refusingDuplicates(() =>
    db.transaction().execute(async (tx) => {
      const now = new Date()
      const added = await addRule(tx, rule, null, now)
      await audit(tx, 'create_ip_rule', added, { ...rule, reason }, now)
      return added
    }),
  )

export const deleteByCommand = (db: Db, id: string, reason: string) =>
  db.transaction().execute(async (tx) => {
    const removed = await removeRule(tx, id)
    await audit(tx, 'delete_ip_rule', removed, { reason }, new Date())
    return removed
  })

const audit = (
  tx: Tx,
  action: string,
  { id, organization_id }: { id: string; organization_id: string },
  body: object,
  now: Date,
) =>
  auditCommand(
    tx,
    { action, target: { type: 'rule_id', id }, organizationId: organization_id, body },
    now,
  )
