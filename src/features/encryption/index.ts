import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { deliveryService } from './delivery/delivery.service.ts'
import { holderRoutes } from './holder.routes.ts'
import { internalRoutes } from './internal.routes.ts'
import { forgetKeyJobs, keyJobs } from './pgp/key-jobs.ts'
import { keyService } from './pgp/keys.service.ts'
import { messageService } from './pgp/messages.service.ts'
import { pgpRoutes } from './pgp/pgp.routes.ts'
import { certificateService } from './smime/certificates.service.ts'
import { smimeMessageService } from './smime/messages.service.ts'
import { smimeHolderRoutes } from './smime/smime.holder.routes.ts'
import { smimeInternalRoutes } from './smime/smime.internal.routes.ts'
import { smimeRoutes } from './smime/smime.routes.ts'
import { wkdRoutes } from './wkd/wkd.routes.ts'
import { type WkdCounts, wkdService } from './wkd/wkd.service.ts'

function build(core: Core) {
  const jobs = keyJobs(core)
  return {
    jobs,
    pgp: [keyService({ ...core, keyJobs: jobs }), messageService(core)] as const,
    smime: [certificateService(core), smimeMessageService(core)] as const,
  }
}

/** Keys of tenants and of holders; the daemon `encryption` publishes them. */
export function encryption(core: Core): Feature[] {
  const { jobs, pgp, smime } = build(core)
  return [
    {
      prefix: '/api/v1/encryption',
      routes: pgpRoutes(...pgp),
      capabilities: ['encryption'],
      jobs: [forgetKeyJobs],
      close: () => jobs.close(),
    },
    {
      prefix: '/api/v1/mailbox/encryption',
      routes: holderRoutes(...pgp, deliveryService(core)),
    },
    { prefix: '/api/v1/encryption', routes: smimeRoutes(...smime) },
    { prefix: '/api/v1/mailbox/encryption', routes: smimeHolderRoutes(...smime) },
  ]
}

/** The Web Key Directory, and the routes for other services. */
export function encryptionFeatures(core: Core, counts: WkdCounts) {
  const { jobs, pgp, smime } = build(core)
  const features: Feature[] = [
    { prefix: '', routes: wkdRoutes(wkdService(core, counts), core) },
    { prefix: '', routes: internalRoutes(...pgp) },
    { prefix: '', routes: smimeInternalRoutes(...smime) },
  ]
  return { features, close: () => jobs.close() }
}
