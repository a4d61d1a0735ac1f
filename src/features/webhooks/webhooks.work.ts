import type { ServiceWork } from '../feature.ts'
import { deleteOldDeliveries } from './webhooks.jobs.ts'

export const webhooksWork = (): ServiceWork => ({ jobs: [deleteOldDeliveries] })
