import type { Core } from '../../core.ts'
import type { Feature } from '../feature.ts'
import { consentRoutes } from './consent/consent.routes.ts'
import { consentService } from './consent/consent.service.ts'
import { eraseDue } from './erasure/erasure.jobs.ts'
import { erasureRoutes } from './erasure/erasure.routes.ts'
import { erasureService } from './erasure/erasure.service.ts'
import { expireExports } from './exports/exports.jobs.ts'
import { exportRoutes } from './exports/exports.routes.ts'
import { exportService } from './exports/exports.service.ts'
import { makeExports } from './exports/make-exports.ts'
import { enforceHolds } from './holds/enforce-holds.ts'
import { releaseEndedHolds } from './holds/holds.jobs.ts'
import { holdRoutes } from './holds/holds.routes.ts'
import { holdService } from './holds/holds.service.ts'
import { keptMailRoutes } from './kept-mail/kept-mail.routes.ts'
import { keptMailService } from './kept-mail/kept-mail.service.ts'
import { policyRoutes } from './retention/policies.routes.ts'
import { policyService } from './retention/policies.service.ts'
import { applyRetention } from './retention/retention.jobs.ts'
import { trailRoutes } from './trail/trail.routes.ts'
import { trailService } from './trail/trail.service.ts'

export const compliance = (core: Core): Feature => ({
  prefix: '/api/v1/compliance',
  isPatient: true,
  routes: async (app) => {
    await app.register(exportRoutes(exportService(core)))
    await app.register(erasureRoutes(erasureService(core)))
    await app.register(consentRoutes(consentService(core)))
    await app.register(holdRoutes(holdService(core)))
    await app.register(keptMailRoutes(keptMailService(core)))
    await app.register(policyRoutes(policyService(core)))
    await app.register(trailRoutes(trailService(core)))
  },
  capabilities: ['compliance'],
  jobs: [expireExports, eraseDue, applyRetention, releaseEndedHolds],
  chores: [makeExports, enforceHolds],
})
