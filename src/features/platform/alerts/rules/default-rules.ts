import { sql } from 'kysely'
import type { Tx } from '../../../../database/database.ts'
import { ulid } from '../../../../lib/ulid.ts'
import * as channels from '../channels/channels.repository.ts'
import * as rules from './rules.repository.ts'

type DefaultRule = Omit<rules.RuleFields, 'enabled' | 'channel_ids' | 'organization_id'>

/** Rules for every mail host. The names identify the rules, so that none is added twice. */
export const DEFAULT_RULES: readonly DefaultRule[] = [
  {
    name: 'Disk is filling up',
    description: 'The disk of DATA_DIR is more than 85 percent full',
    metric: 'disk_used_percent',
    comparator: '>=',
    threshold: 85,
    for_seconds: 300,
    severity: 'warning',
  },
  {
    name: 'Disk is nearly full',
    description: 'At 100 percent the database stops and mail is deferred',
    metric: 'disk_used_percent',
    comparator: '>=',
    threshold: 95,
    for_seconds: 60,
    severity: 'critical',
  },
  {
    name: 'Backup is old',
    description: 'No backup of a host was completed for 26 hours',
    metric: 'backup_age_hours',
    comparator: '>',
    threshold: 26,
    for_seconds: 0,
    severity: 'warning',
  },
  {
    name: 'Restore drill is old',
    description: 'No backup was restored for a test in 35 days, or the last tests failed',
    metric: 'drill_age_hours',
    comparator: '>',
    threshold: 840,
    for_seconds: 0,
    severity: 'warning',
  },
  {
    name: 'Mail is deferred',
    description: 'Many messages wait for another attempt, which a spam run also causes',
    metric: 'queue_deferred',
    comparator: '>',
    threshold: 500,
    for_seconds: 900,
    severity: 'warning',
  },
  {
    name: 'Mail waits for hours',
    description: 'A message is deferred for more than 4 hours, so its destination may be away',
    metric: 'queue_oldest_deferred_seconds',
    comparator: '>',
    threshold: 14_400,
    for_seconds: 0,
    severity: 'warning',
  },
  {
    name: 'Mail queue is large',
    description: 'The messages of the queue need more than 1 GB, which a spam run also causes',
    metric: 'queue_size_bytes',
    comparator: '>',
    threshold: 1_073_741_824,
    for_seconds: 300,
    severity: 'warning',
  },
  {
    name: 'Archive is not uploaded',
    description: 'Archived mail waits on the mail host because its storage does not take it',
    metric: 'archive_waiting_hours',
    comparator: '>',
    threshold: 1,
    for_seconds: 60,
    severity: 'warning',
  },
  {
    name: 'Archive is damaged',
    description: 'The weekly check read archived messages that are damaged or missing',
    metric: 'archive_damaged',
    comparator: '>',
    threshold: 0,
    for_seconds: 0,
    severity: 'critical',
  },
  {
    name: 'Archive objects are not deleted',
    description: 'Objects of deleted or erased mail are still in the storage of the archive',
    metric: 'archive_deletions_overdue',
    comparator: '>',
    threshold: 0,
    for_seconds: 3600,
    severity: 'warning',
  },
  {
    name: 'Sending address is on a block list',
    description: 'Needs SENDING_IPS and RBL_ZONES; without them there is no value',
    metric: 'dns_block_listings',
    comparator: '>',
    threshold: 0,
    for_seconds: 0,
    severity: 'critical',
  },
]

const LOCK = 5_377_019

/** Adds the default rules that are missing; existing ones, also changed ones, stay as they are. */
export async function addDefaultRules(tx: Tx, channelIds: string[], now: Date) {
  // Two requests at once must not add a rule twice.
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx)
  const existing = new Set(await rules.names(tx))
  const missing = DEFAULT_RULES.filter(({ name }) => !existing.has(name))
  const added: Awaited<ReturnType<typeof rules.insert>>[] = []
  for (const rule of missing) {
    const fields = { ...rule, enabled: true, channel_ids: channelIds, organization_id: null }
    added.push(await rules.insert(tx, ulid(), fields, now))
  }
  return added
}

/** The channel of a first operator, so that the default rules reach a person. */
export const addEmailChannel = (tx: Tx, target: string, now: Date) =>
  channels.insert(tx, {
    id: ulid(),
    name: 'Operators',
    type: 'email',
    target,
    enabled: true,
    signing_secret: null,
    created_at: now.toISOString(),
  })
