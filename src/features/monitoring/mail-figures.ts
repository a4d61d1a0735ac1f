import { sql } from 'kysely'
import type { Core } from '../../core.ts'
import type { Db } from '../../database/database.ts'
import { countHosted } from '../../hosting/tenants.repository.ts'
import { sharedValue } from '../../lib/cache.ts'
import { midnightOf } from '../../lib/dates.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import { within } from '../../lib/timeout.ts'
import { queueFigures } from '../../mail/queue-figures.ts'

const KEPT = { freshMs: 5000, staleMs: MINUTE_MS }
const PATIENCE_MS = 3000

type Needs = Pick<Core, 'config' | 'db' | 'doveadm' | 'mailQueue' | 'mailServers' | 'now'>

/** Figures about mail, read independently; a figure that takes too long is null. */
export function mailFigures(core: Needs) {
  const { db, doveadm, now } = core
  const waiting = sharedValue(() => queueFigures(core), KEPT)
  const today = sharedValue(() => attemptsSince(db, midnightOf(now()).toISOString()), KEPT)
  const users = sharedValue(
    async () => ({
      domains: await countHosted(db, 'domain_count'),
      mailboxes: await countHosted(db, 'email_account_count'),
    }),
    KEPT,
  )
  async function connections(): Promise<number> {
    if (!doveadm.isConfigured) return 0
    const [answer] = await within(PATIENCE_MS, doveadm.run([['who', {}]], 2))
    if (!answer?.rows) throw new Error('Dovecot does not say who is there')
    return answer.rows.reduce((sum, { connections: count = '1' }) => sum + (Number(count) || 1), 0)
  }

  return {
    async traffic() {
      const [queued, messages_today, active_connections] = await Promise.all([
        orNull(waiting(PATIENCE_MS)),
        orNull(today(PATIENCE_MS)),
        orNull(connections()),
      ])
      return {
        queue_size: queued?.depth ?? null,
        deferred_count: queued?.deferred ?? null,
        active_connections,
        messages_today,
      }
    },
    async users() {
      const found = await orNull(users(PATIENCE_MS))
      return {
        active_domains: found?.domains ?? null,
        total_users: found?.mailboxes ?? null,
      }
    },
  }
}

const orNull = <Value>(value: Promise<Value>): Promise<Value | null> => value.catch(() => null)

async function attemptsSince(db: Db, since: string): Promise<number> {
  const { count } = await db
    .selectFrom('mail_log')
    .select(sql<number>`count(*)`.as('count'))
    .where('timestamp', '>=', since)
    .executeTakeFirstOrThrow()
  return count
}
