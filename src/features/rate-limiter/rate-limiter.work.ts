import type { ServiceWork } from '../feature.ts'
import { deleteOldUsage } from './rate-limiter.jobs.ts'

export const rateLimiterWork = (): ServiceWork => ({ jobs: [deleteOldUsage] })
