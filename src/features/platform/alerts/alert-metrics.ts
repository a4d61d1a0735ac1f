import type { Block, BlockNeeds } from '../overview/blocks/block.ts'
import { blocks } from '../overview/blocks/index.ts'
import { bounceRate } from '../overview/blocks/volume.ts'

export interface AlertMetric {
  unit: string
  description: string
  /** Whether a rule may look at one organization alone. */
  perOrganization: boolean
  /** null: there is nothing to measure, which is neither good nor bad. */
  read(needs: BlockNeeds, organization: string | null): Promise<number | null>
}

/** The figure of a block of the overview: one computation, two users. */
const figure =
  <Value>(block: Block<Value>, pick: (value: Value) => number | null): AlertMetric['read'] =>
  async (needs, organization) =>
    pick(await block(needs, organization))

/** By name, in alphabetical order. Nothing else can be watched. */
export const alertMetrics = {
  bounce_rate_percent: {
    unit: 'percent',
    description: 'Bounced mail among all that was sent, over 24 hours',
    perOrganization: true,
    read: figure(blocks.volume_24h, bounceRate),
  },
  certificates_expiring_days: {
    unit: 'days',
    description: 'Until the next active certificate ends; nothing while there is none. Use <=',
    perOrganization: false,
    read: figure(blocks.certificates, (value) => value.soonest_expiry_days),
  },
  denied_operator_actions_24h: {
    unit: 'actions',
    description: 'Requests to the console that were refused, over 24 hours',
    perOrganization: false,
    read: figure(blocks.security, (value) => value.denied_actions_24h),
  },
  failed_auth_24h: {
    unit: 'attempts',
    description: 'Failed logins over 24 hours',
    perOrganization: false,
    read: figure(blocks.security, (value) => value.failed_auth_24h),
  },
  quarantine_pending: {
    unit: 'messages',
    description: 'Messages in quarantine that wait for a decision',
    perOrganization: true,
    read: figure(blocks.quarantine, (value) => value.pending),
  },
  queue_depth: {
    unit: 'messages',
    description: 'Messages in the mail queue',
    perOrganization: false,
    read: figure(blocks.queue, (value) => value.depth),
  },
  queue_oldest_age_seconds: {
    unit: 'seconds',
    description: 'Age of the oldest message in the mail queue; nothing while it is empty',
    perOrganization: false,
    read: figure(blocks.queue, (value) => value.oldest_age_seconds),
  },
  services_down: {
    unit: 'services',
    description: 'Services that the monitoring does not find up',
    perOrganization: false,
    read: figure(blocks.services, (value) => value.down),
  },
  storage_used_percent: {
    unit: 'percent',
    description: 'Storage in use of what was given',
    perOrganization: true,
    read: figure(blocks.storage, (value) => value.used_percent),
  },
  webhook_dead_letters: {
    unit: 'events',
    description: 'Events that no attempt could deliver and nobody has resolved',
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
