import { sql } from 'kysely'
import type { Core } from '../../core.ts'
import type { Db } from '../../database/database.ts'
import { keptValue, withinTime } from '../../lib/kept-value.ts'
import { queue } from '../platform/overview/blocks/queue.ts'
import { domains, mailboxes } from '../platform/overview/blocks/tenants.ts'

const KEPT = { freshMs: 5000, staleMs: 60_000 }
const PATIENCE_MS = 3000

type Needs = Pick<Core, 'config' | 'db' | 'doveadm' | 'mailQueue' | 'now'>

/** Figures about mail, each on its own: what cannot be told in time is null. */
export function mailFigures(core: Needs) {
  const { db, doveadm, now } = core
  const waiting = keptValue(() => queue(core, null), KEPT)
  const today = keptValue(() => attemptsSince(db, midnight(now())), KEPT)
  const users = keptValue(
    async () => ({ domains: await domains(core, null), mailboxes: await mailboxes(core, null) }),
    KEPT,
  )
  async function connections(): Promise<number> {
    if (!doveadm.isConfigured) return 0
    const [answer] = await withinTime(doveadm.run([['who', {}]], 2), PATIENCE_MS)
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
        active_domains: found?.domains.total ?? null,
        total_users: found?.mailboxes.total ?? null,
      }
    },
  }
}

const orNull = <Value>(value: Promise<Value>): Promise<Value | null> => value.catch(() => null)

const midnight = (now: Date): string => `${now.toISOString().slice(0, 10)}T00:00:00.000Z`

async function attemptsSince(db: Db, since: string): Promise<number> {
  const { count } = await db
    .selectFrom('mail_log')
    .select(sql<number>`count(*)`.as('count'))
    .where('timestamp', '>=', since)
    .executeTakeFirstOrThrow()
  return count
}
