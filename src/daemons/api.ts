import { globalWebhookUrl } from '../config.ts'
import type { Core } from '../core.ts'
import { aliasService } from '../features/aliases/aliases.service.ts'
import { aliases } from '../features/aliases/index.ts'
import { analytics } from '../features/analytics/index.ts'
import { auth } from '../features/auth/index.ts'
import { bootstrap } from '../features/bootstrap/index.ts'
import { capabilities } from '../features/capabilities/index.ts'
import { type Manifest, manifestOf } from '../features/capabilities/manifest.ts'
import { eraseDue } from '../features/compliance/erasure/erasure.jobs.ts'
import { expireExports } from '../features/compliance/exports/exports.jobs.ts'
import { makeExports } from '../features/compliance/exports/make-exports.ts'
import { compliance } from '../features/compliance/index.ts'
import { applyRetention } from '../features/compliance/retention/retention.jobs.ts'
import { deleteRetiredKeys } from '../features/domains/dkim/dkim.jobs.ts'
import { domainService } from '../features/domains/domains.service.ts'
import { domains } from '../features/domains/index.ts'
import type { Feature } from '../features/feature.ts'
import { filters } from '../features/filters/index.ts'
import { health } from '../features/health/index.ts'
import { mailbox } from '../features/mailbox/index.ts'
import { scriptStore } from '../features/mailbox/script-store/script-store.ts'
import { mailboxAuth } from '../features/mailbox-auth/index.ts'
import { mailboxes } from '../features/mailboxes/index.ts'
import { EmailAccount } from '../features/mailboxes/mailboxes.schemas.ts'
import { mailboxService } from '../features/mailboxes/mailboxes.service.ts'
import { messageTrace } from '../features/message-trace/index.ts'
import { expireQuarantine } from '../features/message-trace/message-trace.jobs.ts'
import { migration } from '../features/migration/index.ts'
import { monitoring } from '../features/monitoring/index.ts'
import { organizations } from '../features/organizations/index.ts'
import { organizationService } from '../features/organizations/organizations.service.ts'
import { platform } from '../features/platform/index.ts'
import { provision } from '../features/platform/provisioning/provision.ts'
import { queue } from '../features/queue/index.ts'
import { rag } from '../features/rag/index.ts'
import { closeCounting } from '../features/rate-limiter/counting.ts'
import { rateLimiter } from '../features/rate-limiter/index.ts'
import { reputation } from '../features/reputation/index.ts'
import { reseller } from '../features/reseller/index.ts'
import { security } from '../features/security/index.ts'
import { keepSharedRights } from '../features/shared-mailboxes/acl/keep-rights.ts'
import { sharedMailboxes } from '../features/shared-mailboxes/index.ts'
import { smtpCredentials } from '../features/smtp-credentials/index.ts'
import { acmeChallenges, ssl } from '../features/ssl/index.ts'
import { storage } from '../features/storage/index.ts'
import { followUsage } from '../features/storage/usage/follow-usage.ts'
import { deleteOldCalculations, reportUsage } from '../features/storage/usage/usage.jobs.ts'
import { tracking } from '../features/tracking/index.ts'
import { closeRecorder } from '../features/tracking/recorder.ts'
import { forgetTracking } from '../features/tracking/tracking.jobs.ts'
import { transportRules } from '../features/transport-rules/index.ts'
import { webhooks } from '../features/webhooks/index.ts'
import { whitelabel } from '../features/whitelabel/index.ts'
import { runChores } from '../jobs/chores.ts'
import {
  deleteExpiredIdempotencyKeys,
  deleteOldFailedAttempts,
  deleteOldSessions,
} from '../jobs/housekeeping.ts'
import { runJobs } from '../jobs/jobs.ts'
import type { Daemon } from './daemon.ts'
import { followEdge } from './edge-follower.ts'
import { restartsOf } from './restarts.ts'
import './all-events.ts'

export const api: Daemon = {
  async start(core) {
    const jobs = runJobs(core, [
      deleteExpiredIdempotencyKeys,
      deleteOldSessions,
      deleteOldFailedAttempts,
      deleteRetiredKeys,
      reportUsage(core.config),
      deleteOldCalculations,
      expireQuarantine,
      expireExports,
      eraseDue,
      applyRetention,
      forgetTracking,
    ])
    const edge = await followEdge(core)
    const chores = await runChores(core, [followUsage, keepSharedRights, makeExports, provision])
    return {
      features: apiFeatures(core),
      async stop() {
        await chores.stop()
        await edge.stop()
        await jobs.stop()
        closeCounting(core)
        await closeRecorder(core)
      },
    }
  },
}

/** The features in the order they need each other; nothing in them runs until a request comes. */
export function apiFeatures(core: Core): Feature[] {
  const edition = core.config.SVC_EDITION
  let known: Manifest | undefined
  const manifest = (): Manifest => {
    known ??= manifestOf(edition, features)
    return known
  }
  const organizing = organizationService(core)
  const hosting = domainService({ ...core, organizations: organizing })
  const forwarding = aliasService({ ...core, domains: hosting })
  const mailboxing = mailboxService({
    ...core,
    organizations: organizing,
    domains: hosting,
    aliases: forwarding,
  })
  const scripts = scriptStore(core)
  const features: Feature[] = [
    health(core, 'api'),
    capabilities(manifest),
    bootstrap(core),
    auth(core, manifest),
    platform(core),
    organizations(organizing, hosting),
    domains(core, hosting, { ...mailboxing, shape: EmailAccount }),
    mailboxes(core, mailboxing),
    smtpCredentials(core, hosting),
    aliases(forwarding),
    sharedMailboxes(core, hosting, forwarding),
    storage(core, hosting, mailboxing),
    queue(core),
    monitoring(core, restartsOf(core)),
    webhooks(core, { globalUrl: globalWebhookUrl(core.config) }),
    messageTrace(core),
    analytics(core),
    migration(core),
    compliance(core),
    reputation(core),
    reseller(core),
    whitelabel(core),
    mailboxAuth(core),
    mailbox(core, mailboxing, scripts),
    filters(core, scripts),
    rateLimiter(core),
    security(core),
    ssl(core),
    acmeChallenges(core),
    ...tracking(core, organizing, hosting),
    transportRules(core),
    rag(core),
  ].filter((feature: Feature) => feature.edition === undefined || feature.edition === edition)
  return features
}
