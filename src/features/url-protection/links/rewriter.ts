import { publicUrl } from '../../../config/index.ts'
import type { Core } from '../../../core.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { allowedHosts } from '../lists/lists.repository.ts'
import { signingKey } from './link-keys.ts'

const TIME_LIMIT_MS = 10_000

const task = taskIn<typeof import('./rewrite.task.ts')>('features/url-protection/links/rewrite')

type Needs = Pick<Core, 'config' | 'db' | 'vault' | 'workers'>

/**
 * Leads the links of a message or an HTML page over this service; undefined if it must stay as it is.
 * The key goes to the worker thread with each piece of work, so that threads keep no secret.
 */
export const linkRewriter =
  (core: Needs) => async (content: Uint8Array | string, organizationId: string) => {
    const input = {
      content,
      base: `${publicUrl(core.config)}/safe/`,
      organizationId,
      key: await signingKey(core),
      allowed: await allowedHosts(core.db, organizationId),
    }
    return core.workers.run(task, input, { owner: organizationId, timeLimitMs: TIME_LIMIT_MS })
  }
