import type { Db } from '../../../database/database.ts'
import { insertCommand } from '../../../http/audit.repository.ts'
import { addDefaultRules, addEmailChannel } from './rules/default-rules.ts'

/** All rules with the value and the time since when they fire. */
export const rulesWithState = (db: Db) =>
  db
    .selectFrom('alert_rules')
    .leftJoin('alert_events', (join) =>
      join
        .onRef('alert_events.rule_id', '=', 'alert_rules.id')
        .on('alert_events.state', '=', 'firing'),
    )
    .select([
      'alert_rules.name',
      'alert_rules.metric',
      'alert_rules.comparator',
      'alert_rules.threshold',
      'alert_rules.severity',
      'alert_rules.enabled',
      'alert_events.created_at as firing_since',
      'alert_events.value',
    ])
    .orderBy('alert_rules.name')
    .orderBy('alert_rules.id')
    .execute()

/** Adds the missing default rules on the command line, and a channel for them if one is named. */
export const addDefaultsByCommand = (db: Db, email: string | undefined, now: Date) =>
  db.transaction().execute(async (tx) => {
    const channel = email === undefined ? undefined : await addEmailChannel(tx, email, now)
    const added = await addDefaultRules(tx, channel ? [channel.id] : [], now)
    const request_body = { ...(email !== undefined && { email }), added: added.length }
    await insertCommand(tx, { action: 'add_default_alert_rules', request_body }, now)
    return added
  })
