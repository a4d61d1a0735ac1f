import type { ServiceWork } from '../feature.ts'
import { deleteOldRestarts } from './restarts/restarts.ts'
import { deleteOldSamples } from './samples/sampler.ts'

export const monitoringWork = (): ServiceWork => ({ jobs: [deleteOldSamples, deleteOldRestarts] })
