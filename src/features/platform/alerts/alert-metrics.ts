import type { Block, BlockNeeds } from '../overview/block.ts'
import { blocks } from '../overview/blocks.ts'
import { bounceRate } from '../overview/volume.ts'
import {
  archiveDamaged,
  archiveDeletions,
  archiveWaiting,
  blockListings,
  deferredMessages,
  drillAge,
  fullestDisk,
  oldestBackup,
  oldestDeferred,
  queueBytes,
} from './host-figures.ts'

interface AlertMetric {
  unit: string
  description: string
  /** True if a rule may watch a single organization. */
  perOrganization: boolean
  /** Returns null when there is nothing to measure; the rule then keeps its state. */
  read(needs: BlockNeeds, organization: string | null): Promise<number | null>
}

/** Reads one value of an overview block, so that alerts and the overview always agree. */
const figure =
  <Value>(block: Block<Value>, pick: (value: Value) => number | null): AlertMetric['read'] =>
  async (needs, organization) =>
    pick(await block(needs, organization))

/** All metrics that a rule can watch, in alphabetical order. */
export const alertMetrics = {
  archive_damaged: {
    unit: 'messages',
    description:
      'Damaged or missing messages by the last check of the archive; no value before one',
    perOrganization: false,
    read: archiveDamaged,
  },
  archive_deletions_overdue: {
    unit: 'objects',
    description: 'Objects of deleted archived messages that could not be deleted for 2 hours',
    perOrganization: false,
    read: archiveDeletions,
  },
  archive_waiting_hours: {
    unit: 'hours',
    description: 'Age of the oldest archived message that waits for its upload',
    perOrganization: false,
    read: archiveWaiting,
  },
  backup_age_hours: {
    unit: 'hours',
    description: 'Time since the last completed backup, of the host where it is longest ago',
    perOrganization: false,
    read: oldestBackup,
  },
  bounce_rate_percent: {
    unit: 'percent',
    description: 'Share of sent mail that bounced in the last 24 hours',
    perOrganization: true,
    read: figure(blocks.volume_24h, bounceRate),
  },
  certificates_expiring_days: {
    unit: 'days',
    description: 'Days until the next active certificate expires; no value without one. Use <=',
    perOrganization: false,
    read: figure(blocks.certificates, (value) => value.soonest_expiry_days),
  },
  denied_operator_actions_24h: {
    unit: 'actions',
    description: 'Console requests refused with 401 or 403 in the last 24 hours',
    perOrganization: false,
    read: figure(blocks.security, (value) => value.denied_actions_24h),
  },
  disk_used_percent: {
    unit: 'percent',
    description: 'Share of the disk of DATA_DIR in use, of the host where it is largest',
    perOrganization: false,
    read: fullestDisk,
  },
  dns_block_listings: {
    unit: 'listings',
    description: 'Entries of SENDING_IPS on the lists of RBL_ZONES; no value without both',
    perOrganization: false,
    read: blockListings,
  },
  drill_age_hours: {
    unit: 'hours',
    description: 'Time since a restore drill passed; no value before the first drill',
    perOrganization: false,
    read: drillAge,
  },
  failed_auth_24h: {
    unit: 'attempts',
    description: 'Failed logins in the last 24 hours',
    perOrganization: false,
    read: figure(blocks.security, (value) => value.failed_auth_24h),
  },
  quarantine_pending: {
    unit: 'messages',
    description: 'Messages in quarantine without a decision',
    perOrganization: true,
    read: figure(blocks.quarantine, (value) => value.pending),
  },
  queue_deferred: {
    unit: 'messages',
    description: 'Messages that wait for another attempt, by the sample of the last minute',
    perOrganization: false,
    read: deferredMessages,
  },
  queue_depth: {
    unit: 'messages',
    description: 'Messages in the mail queue',
    perOrganization: false,
    read: figure(blocks.queue, (value) => value.depth),
  },
  queue_oldest_age_seconds: {
    unit: 'seconds',
    description: 'Age of the oldest message in the mail queue; no value while it is empty',
    perOrganization: false,
    read: figure(blocks.queue, (value) => value.oldest_age_seconds),
  },
  queue_oldest_deferred_seconds: {
    unit: 'seconds',
    description: 'Age of the oldest deferred message, by the last sample of each queue manager',
    perOrganization: false,
    read: oldestDeferred,
  },
  queue_size_bytes: {
    unit: 'bytes',
    description: 'Size of all messages in the mail queue, by the last sample of each queue manager',
    perOrganization: false,
    read: queueBytes,
  },
  services_down: {
    unit: 'services',
    description: 'Services that the last check did not find up',
    perOrganization: false,
    read: figure(blocks.services, (value) => value.down),
  },
  storage_used_percent: {
    unit: 'percent',
    description: 'Share of the storage quota in use',
    perOrganization: true,
    read: figure(blocks.storage, (value) => value.used_percent),
  },
  webhook_dead_letters: {
    unit: 'events',
    description: 'Events that could not be delivered and are not resolved',
    perOrganization: true,
    read: figure(blocks.webhooks, (value) => value.dead_letters),
  },
} as const satisfies Record<string, AlertMetric>

export type MetricName = keyof typeof alertMetrics
export const METRICS = Object.keys(alertMetrics) as MetricName[]
export const metricOf = (name: string): AlertMetric => alertMetrics[name as MetricName]

export const COMPARATORS = ['>', '>=', '<', '<=', '=='] as const
export const SEVERITIES = ['critical', 'warning', 'info'] as const
export const CHANNEL_TYPES = ['email', 'webhook'] as const

export type Comparator = (typeof COMPARATORS)[number]
export type Severity = (typeof SEVERITIES)[number]
export type ChannelType = (typeof CHANNEL_TYPES)[number]

const tests: Record<Comparator, (value: number, threshold: number) => boolean> = {
  '>': (value, threshold) => value > threshold,
  '>=': (value, threshold) => value >= threshold,
  '<': (value, threshold) => value < threshold,
  '<=': (value, threshold) => value <= threshold,
  '==': (value, threshold) => value === threshold,
}

export const isBreach = (value: number, comparator: Comparator, threshold: number): boolean =>
  tests[comparator](value, threshold)
