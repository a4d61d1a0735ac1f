import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { recordEventOfActor } from '../../hosting/credential-trail.repository.ts'
import { HOUR_MS } from '../../lib/time.ts'
import type { Attempt } from './attempts.ts'
import * as log from './mail-log.repository.ts'

const WINDOW_HOURS = 1
const LIMITS = { messages: 20, share: 0.5 }

type Needs = Pick<Core, 'config' | 'now'>

/**
 * Suspends credentials with too many failed messages: they are misused or harm the reputation of this
 * host. Returns their logins, which must be flushed from the login cache after the commit.
 */
export const autoSuspend =
  ({ config, now }: Needs) =>
  async (tx: Tx, fresh: Attempt[]): Promise<string[]> => {
    if (!config.AUTO_SUSPEND_ENABLED) return []
    const failed = fresh.flatMap(({ credential_id, status }) =>
      credential_id !== null && (status === 'bounced' || status === 'rejected')
        ? [credential_id]
        : [],
    )
    if (failed.length === 0) return []
    const at = now()
    const since = new Date(at.getTime() - WINDOW_HOURS * HOUR_MS)
    const failing = await log.lockFailing(tx, [...new Set(failed)], since, LIMITS)
    if (failing.length === 0) return []
    await log.deactivate(
      tx,
      failing.map(({ id }) => id),
      at,
    )
    for (const credential of failing) {
      const { failed, total } = credential
      const detail = { failed, total, window_hours: WINDOW_HOURS }
      await recordEventOfActor(tx, INGESTOR, 'suspended', [credential], at, detail)
    }
    return failing.map(({ username }) => username)
  }

const INGESTOR = { actor: 'log_ingestor', source_ip: '' }
