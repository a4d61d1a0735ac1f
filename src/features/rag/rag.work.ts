import type { Core } from '../../core.ts'
import type { ServiceWork } from '../feature.ts'
import { indexChore } from './indexing/run-job.ts'
import { deleteOldIndexJobs, scheduleIndexing } from './rag.jobs.ts'

export const ragWork = (_core: Core, stopping: AbortSignal): ServiceWork => ({
  jobs: [scheduleIndexing, deleteOldIndexJobs],
  chores: [indexChore(stopping)],
})
