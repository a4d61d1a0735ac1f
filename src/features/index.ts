import type { Edition } from '../config/index.ts'
import type { Stage } from '../content/stage.ts'
import type { Core } from '../core.ts'
import { type Manifest, manifestOf } from './capabilities/manifest.ts'
import type { Feature, ServiceWork } from './feature.ts'
import type { Restarts } from './monitoring/restarts/restarts.ts'
import type { Services } from './services.ts'

/**
 * The order of the stages of the content filter. Data loss prevention inspects the message as the
 * transport rules leave it. Attachments are counted once nothing can refuse the message any more.
 * Pacing comes after all stages that may refuse, because a refused message must
 * not count. The archive comes after all of them and keeps what was accepted. Tracking comes after it,
 * because its links are not content of the sender. Calendars follow mail that is delivered. The links
 * of incoming mail are changed last: all other stages see the message as it was sent.
 */
const PHASES = [
  'spam',
  'rules',
  'leaks',
  'attachments',
  'pacing',
  'archive',
  'tracking',
  'calendars',
  'links',
] as const

/** Services that run the jobs and chores of features, besides `worker`. */
export const WORKING_SERVICES = [
  'analytics',
  'cert_manager',
  'delivery_optimizer',
  'monitoring',
  'queue_manager',
  'rag',
  'rate_limiter',
  'storage',
  'webhooks',
] as const
export type WorkingService = (typeof WORKING_SERVICES)[number]

/** Long work must end soon after the signal. */
type LoadWork = () => Promise<(core: Core, stopping: AbortSignal) => ServiceWork>

/** The parts of a feature. A process loads only the parts that its services need. */
interface FeatureParts {
  api?: () => Promise<(core: Core, services: Services) => Feature | Feature[]>
  /** Loading the module declares the events. */
  events?: () => Promise<unknown>
  stage?: { phase: (typeof PHASES)[number]; load: () => Promise<(core: Core) => Stage> }
  work?: Partial<Record<WorkingService, LoadWork>>
}

/** All features, in the order of the capability manifest. */
const FEATURES: readonly FeatureParts[] = [
  {
    api: async () => {
      const { health } = await import('./health/index.ts')
      return (core) => health(core, 'api')
    },
  },
  { api: async () => (await import('./capabilities/index.ts')).capabilities },
  { api: async () => (await import('./bootstrap/index.ts')).bootstrap },
  { api: async () => (await import('./auth/index.ts')).auth },
  {
    api: async () => (await import('./users/index.ts')).users,
    events: () => import('./users/users.events.ts'),
  },
  {
    api: async () => (await import('./api-keys/index.ts')).apiKeys,
    events: () => import('./api-keys/api-keys.events.ts'),
  },
  {
    api: async () => (await import('./platform/index.ts')).platform,
    events: () =>
      Promise.all([
        import('./platform/operators/operators.events.ts'),
        import('./platform/mail-hosts/moves/moves.events.ts'),
      ]),
    work: { monitoring: async () => (await import('./platform/platform.work.ts')).platformWork },
  },
  {
    api: async () => (await import('./organizations/index.ts')).organizations,
    events: () => import('./organizations/organizations.events.ts'),
  },
  {
    api: async () => (await import('./domains/index.ts')).domains,
    events: () => import('./domains/domains.events.ts'),
  },
  {
    api: async () => (await import('./mailboxes/index.ts')).mailboxes,
    events: () => import('./mailboxes/mailboxes.events.ts'),
  },
  { api: async () => (await import('./smtp-credentials/index.ts')).smtpCredentials },
  {
    api: async () => (await import('./aliases/index.ts')).aliases,
    events: () => import('./aliases/aliases.events.ts'),
  },
  {
    api: async () => (await import('./shared-mailboxes/index.ts')).sharedMailboxes,
    events: () => import('./shared-mailboxes/shared-mailboxes.events.ts'),
  },
  {
    api: async () => (await import('./storage/index.ts')).storage,
    events: () => import('./storage/storage.events.ts'),
    stage: {
      phase: 'attachments',
      load: async () =>
        (await import('./storage/attachments/attachments.stage.ts')).attachmentsStage,
    },
    work: { storage: async () => (await import('./storage/storage.work.ts')).storageWork },
  },
  {
    api: async () => (await import('./queue/index.ts')).queue,
    events: () => import('./queue/queue.events.ts'),
    work: { queue_manager: async () => (await import('./queue/queue.work.ts')).queueWork },
  },
  {
    api: async () => (await import('./monitoring/index.ts')).monitoring,
    events: () => import('./monitoring/monitoring.events.ts'),
    work: {
      monitoring: async () => (await import('./monitoring/monitoring.work.ts')).monitoringWork,
    },
  },
  {
    api: async () => (await import('./webhooks/index.ts')).webhooks,
    events: () =>
      Promise.all([
        import('./webhooks/webhooks.events.ts'),
        import('./webhooks/ingestion/ingestion.events.ts'),
      ]),
    work: { webhooks: async () => (await import('./webhooks/webhooks.work.ts')).webhooksWork },
  },
  { events: () => import('./mail-log/mail-log.events.ts') },
  {
    api: async () => (await import('./message-trace/index.ts')).messageTrace,
    stage: {
      phase: 'spam',
      load: async () => (await import('./message-trace/spam.stage.ts')).spamFilter,
    },
  },
  {
    api: async () => (await import('./messages/index.ts')).messages,
    events: () => import('./messages/sending/sending.events.ts'),
  },
  { api: async () => (await import('./templates/index.ts')).templates },
  { api: async () => (await import('./activity/index.ts')).activity },
  {
    api: async () => (await import('./analytics/index.ts')).analytics,
    work: { analytics: async () => (await import('./analytics/analytics.work.ts')).analyticsWork },
  },
  {
    api: async () => (await import('./migration/index.ts')).migration,
    events: () => import('./migration/migration.events.ts'),
  },
  {
    api: async () => (await import('./compliance/index.ts')).compliance,
    events: () => import('./compliance/compliance.events.ts'),
  },
  {
    api: async () => (await import('./reputation/index.ts')).reputation,
    events: () => import('./reputation/reputation.events.ts'),
    stage: {
      phase: 'pacing',
      load: async () => (await import('./reputation/optimizer/pacing.stage.ts')).pacingStage,
    },
    work: {
      delivery_optimizer: async () =>
        (await import('./reputation/reputation.work.ts')).reputationWork,
    },
  },
  {
    api: async () => (await import('./reseller/index.ts')).reseller,
    events: () => import('./reseller/reseller.events.ts'),
  },
  {
    api: async () => (await import('./whitelabel/index.ts')).whitelabel,
    events: () => import('./whitelabel/whitelabel.events.ts'),
  },
  { api: async () => (await import('./mailbox-auth/index.ts')).mailboxAuth },
  { api: async () => (await import('./oauth/index.ts')).oauth },
  {
    api: async () => (await import('./mailbox/index.ts')).mailbox,
    events: () => import('./mailbox/app-passwords/app-passwords.events.ts'),
  },
  { api: async () => (await import('./autoconfig/holder.ts')).holderProfile },
  {
    api: async () => (await import('./filters/index.ts')).filters,
    events: () => import('./filters/filters.events.ts'),
  },
  {
    api: async () => (await import('./rate-limiter/index.ts')).rateLimiter,
    events: () => import('./rate-limiter/rate-limiter.events.ts'),
    work: {
      rate_limiter: async () =>
        (await import('./rate-limiter/rate-limiter.work.ts')).rateLimiterWork,
    },
  },
  {
    api: async () => (await import('./security/index.ts')).security,
    events: () =>
      Promise.all([
        import('../hosting/security.events.ts'),
        import('./security/dlp/dlp.events.ts'),
      ]),
    stage: {
      phase: 'leaks',
      load: async () => (await import('./security/dlp/stage.ts')).dlpStage,
    },
  },
  {
    api: async () => (await import('./ssl/index.ts')).ssl,
    work: { cert_manager: async () => (await import('./ssl/ssl.work.ts')).sslWork },
  },
  {
    api: async () => (await import('./tracking/index.ts')).tracking,
    events: () => import('./tracking/tracking.events.ts'),
    stage: {
      phase: 'tracking',
      load: async () => (await import('./tracking/injector/tracking.stage.ts')).trackingStage,
    },
  },
  {
    api: async () => (await import('./transport-rules/index.ts')).transportRules,
    events: () => import('./transport-rules/transport-rules.events.ts'),
    stage: {
      phase: 'rules',
      load: async () => (await import('./transport-rules/stage.ts')).transportRulesStage,
    },
  },
  {
    api: async () => (await import('./url-protection/index.ts')).urlProtection,
    stage: {
      phase: 'links',
      load: async () =>
        (await import('./url-protection/links/url-protection.stage.ts')).urlProtectionStage,
    },
  },
  {
    api: async () => (await import('./caldav/index.ts')).calendars,
    stage: {
      phase: 'calendars',
      load: async () => (await import('./caldav/scheduling/scheduling.stage.ts')).schedulingStage,
    },
  },
  {
    api: async () => (await import('./archive/index.ts')).archive,
    events: () => import('./archive/archive.events.ts'),
    stage: {
      phase: 'archive',
      load: async () => (await import('./archive/archive.stage.ts')).archiveStage,
    },
  },
  {
    api: async () => (await import('./encryption/index.ts')).encryption,
    events: () => import('./encryption/encryption.events.ts'),
  },
  {
    api: async () => (await import('./rag/index.ts')).rag,
    events: () => import('./rag/rag.events.ts'),
    work: { rag: async () => (await import('./rag/rag.work.ts')).ragWork },
  },
]

/** Every feature of the API, also those that this edition does not offer. */
export async function apiFeatures(core: Core, restarts: Restarts): Promise<Feature[]> {
  const { sharedServices } = await import('./services.ts')
  let manifestOfFeatures: Manifest | undefined
  const manifest = (): Manifest => {
    manifestOfFeatures ??= manifestOf(
      core.config.SVC_EDITION,
      offeredIn(core.config.SVC_EDITION, features),
    )
    return manifestOfFeatures
  }
  const services = sharedServices(core, { restarts, manifest })
  const features: Feature[] = []
  for (const { api } of FEATURES) {
    if (api) features.push(...[(await api())(core, services)].flat())
  }
  return features
}

/** The features whose routes and capabilities this edition offers. */
export const offeredIn = (edition: Edition, features: readonly Feature[]): Feature[] =>
  features.filter((feature) => feature.edition === undefined || feature.edition === edition)

/**
 * Declares the events of every feature, for services that list them or reject unknown names: the
 * features that emit them may run in another process.
 */
export async function declareEvents(): Promise<void> {
  for (const { events } of FEATURES) await events?.()
}

/** The stages of the content filter in the order of their phases. */
export async function contentStages(core: Core): Promise<readonly Stage[]> {
  const stages = FEATURES.flatMap(({ stage }) => (stage ? [stage] : []))
  stages.sort((one, other) => PHASES.indexOf(one.phase) - PHASES.indexOf(other.phase))
  return Promise.all(stages.map(async ({ load }) => (await load())(core)))
}

/** The jobs and chores that a service runs for all features. */
export async function workOf(
  service: WorkingService,
  core: Core,
  stopping: AbortSignal,
): Promise<Required<ServiceWork>> {
  const loads = FEATURES.flatMap(({ work }) => work?.[service] ?? [])
  const parts = await Promise.all(loads.map(async (load) => (await load())(core, stopping)))
  return {
    jobs: parts.flatMap(({ jobs = [] }) => jobs),
    chores: parts.flatMap(({ chores = [] }) => chores),
  }
}
