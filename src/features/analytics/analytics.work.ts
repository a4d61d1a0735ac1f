import type { ServiceWork } from '../feature.ts'
import { deleteOldQuarters, deleteOldReports, foldTraffic } from './analytics.jobs.ts'

export const analyticsWork = (): ServiceWork => ({
  jobs: [deleteOldReports, deleteOldQuarters],
  chores: [foldTraffic],
})
