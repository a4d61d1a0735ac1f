import { readConfig } from '../config/index.ts'
import type { Core } from '../core.ts'
import type { Feature } from '../features/feature.ts'
import { apiFeatures, offeredIn } from '../features/index.ts'
import { restartsOf } from './restarts.ts'
import { webhooksFeatures } from './webhooks.ts'

/** The features of the API description. Features use the core only when a request arrives. */
export async function documentedFeatures(): Promise<Feature[]> {
  const core = { config: readConfig({}) } as Core
  const features = await apiFeatures(core, restartsOf(core))
  return [...offeredIn(core.config.SVC_EDITION, features), ...webhooksFeatures(core, () => {})]
}
