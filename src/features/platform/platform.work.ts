import type { ServiceWork } from '../feature.ts'
import { deleteOldNotifications } from './alerts/alerts.jobs.ts'

export const platformWork = (): ServiceWork => ({ jobs: [deleteOldNotifications] })
