import type { ServiceWork } from '../feature.ts'
import { makeWebhookDays } from './webhooks.days.ts'
import { deleteOldDeliveries } from './webhooks.jobs.ts'

export const webhooksWork = (): ServiceWork => ({ jobs: [makeWebhookDays, deleteOldDeliveries] })
