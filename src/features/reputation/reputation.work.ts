import type { Core } from '../../core.ts'
import type { ServiceWork } from '../feature.ts'
import { deleteOldCounts, tellWarmUp } from './optimizer/optimizer.jobs.ts'
import { releasePaced } from './optimizer/release-paced.ts'
import {
  forgetReputation,
  lookUpListings,
  scoreHoursAndDays,
  scoreWeeksAndMonths,
} from './reputation.jobs.ts'

export const reputationWork = ({ config }: Core): ServiceWork => ({
  jobs: [
    scoreHoursAndDays,
    scoreWeeksAndMonths,
    lookUpListings(config),
    forgetReputation,
    tellWarmUp,
    deleteOldCounts,
  ],
  chores: [releasePaced],
})
