import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { deliveryService } from './delivery/delivery.service.ts'
import { holderRoutes } from './holder.routes.ts'
import { internalRoutes } from './internal.routes.ts'
import { forgetKeyJobs, keyJobs } from './pgp/key-jobs.ts'
import { keyService } from './pgp/keys.service.ts'
import { messageService } from './pgp/messages.service.ts'
import { pgpRoutes } from './pgp/pgp.routes.ts'
import { wkdRoutes } from './wkd/wkd.routes.ts'
import { type WkdCounts, wkdService } from './wkd/wkd.service.ts'

function build(core: Core) {
  const jobs = keyJobs(core)
  return { jobs, keys: keyService({ ...core, keyJobs: jobs }), messages: messageService(core) }
}

/** Keys of tenants and of holders; the daemon `encryption` publishes them. */
export function encryption(core: Core): Feature[] {
  const { jobs, keys, messages } = build(core)
  return [
    {
      prefix: '/api/v1/encryption',
      routes: pgpRoutes(keys, messages),
      capabilities: ['encryption'],
      jobs: [forgetKeyJobs],
      close: () => jobs.close(),
    },
    {
      prefix: '/api/v1/mailbox/encryption',
      routes: holderRoutes(keys, messages, deliveryService(core)),
    },
  ]
}

/** The Web Key Directory, and the routes for other services. */
export function encryptionFeatures(core: Core, counts: WkdCounts) {
  const { jobs, keys, messages } = build(core)
  const features: Feature[] = [
    { prefix: '', routes: wkdRoutes(wkdService(core, counts), core) },
    { prefix: '', routes: internalRoutes(keys, messages) },
  ]
  return { features, close: () => jobs.close() }
}
