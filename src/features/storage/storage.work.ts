import type { Core } from '../../core.ts'
import type { ServiceWork } from '../feature.ts'
import { deleteOldHistory, keepHistory } from './history/history.jobs.ts'
import { followUsage } from './usage/follow-usage.ts'
import { deleteOldCalculations, reportUsage } from './usage/usage.jobs.ts'

export const storageWork = ({ config }: Core): ServiceWork => ({
  jobs: [reportUsage(config), deleteOldCalculations, keepHistory, deleteOldHistory],
  chores: [followUsage],
})
