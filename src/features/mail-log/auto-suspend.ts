import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { recordEventOfActor } from '../smtp-credentials/smtp-credential-trail.ts'
import type { Attempt } from './attempts.ts'
import * as log from './mail-log.repository.ts'

const WINDOW_HOURS = 1
const LIMITS = { messages: 20, share: 0.5 }
const HOUR_MS = 60 * 60 * 1000

type Needs = Pick<Core, 'config' | 'now'>

/**
 * Stops credentials most of whose mail is refused: they are being misused, or use up the good name of
 * everybody. Answers the logins that must be forgotten once this is committed.
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
