import type { ServiceWork } from '../feature.ts'
import { deleteOldQueueSamples } from './samples/sampler.ts'

export const queueWork = (): ServiceWork => ({ jobs: [deleteOldQueueSamples] })
