import type { Core } from '../core.ts'
import type { Db } from '../database/database.ts'
import type { Feature } from '../features/feature.ts'
import { apiFeatures } from '../features/index.ts'
import { restartsOf } from './restarts.ts'

interface Shared {
  features: Promise<Feature[]>
  users: number
}

// One set per process: the API and the worker may run in the same one.
const known = new WeakMap<Db, Shared>()

/** The features of this process. They are closed when the last daemon that uses them has stopped. */
export async function useFeatures(core: Core) {
  const shared = known.get(core.db) ?? { features: apiFeatures(core, restartsOf(core)), users: 0 }
  known.set(core.db, shared)
  shared.users++
  const features = await shared.features
  return {
    features,
    async release(): Promise<void> {
      if (--shared.users > 0) return
      known.delete(core.db)
      for (const { close } of features) await close?.()
    },
  }
}
