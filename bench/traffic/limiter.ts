import type { Sql } from 'postgres'
import { readConfig } from '../../src/config/index.ts'
import { type Core, startCore } from '../../src/core.ts'
import type { Target } from '../../src/database/database.ts'
import { outbox } from '../../src/events/outbox.ts'
import { closeCounting, countingOf } from '../../src/features/rate-limiter/counters/counting.ts'
import { limiter } from '../../src/features/rate-limiter/limiter.ts'
import { webhookQueue } from '../../src/features/webhooks/delivery/enqueue.ts'
import { startSenders } from '../../src/hosting/senders.ts'

const SENDERS = 200
const DOMAINS = 20
const AT_ONCE = 64
const MANY = '1000000000'

export interface Decided {
  perSecond: number
  isExact: boolean
}

/** Mailboxes that may send, of domains that will reach their limit. */
export async function seedSenders(sql: Sql): Promise<void> {
  await sql`
    insert into organizations (id, name) select 'L' || n, 'Limited ' || n
    from generate_series(0, ${DOMAINS - 1}) n`
  await sql`
    insert into domains (id, organization_id, domain, ownership_verified_at)
    select 'L' || n, 'L' || n, 'limited' || n || '.example', now() from generate_series(0, ${DOMAINS - 1}) n`
  await sql`
    insert into email_accounts (id, organization_id, domain_id, email, password_hash)
    select 'L' || n, 'L' || n % ${DOMAINS}, 'L' || n % ${DOMAINS},
      's' || n || '@limited' || n % ${DOMAINS} || '.example', 'none'
    from generate_series(0, ${SENDERS - 1}) n`
}

/**
 * Decisions per second of one process, each for an organization, a domain and a mailbox. Exactly
 * half of them must be refused.
 */
export async function measureDecisions(
  dataDir: string,
  target: Target,
  log: Core['log'],
  decisions: number,
  redisUrl?: string,
): Promise<Decided> {
  const allowed = Math.floor(decisions / DOMAINS / 2)
  const limits = ['ORG', 'DOMAIN', 'MAILBOX'].flatMap((entity) =>
    ['SECOND', 'MINUTE', 'HOURLY', 'DAILY', 'MONTHLY', 'BURST'].map((window) => [
      `${entity}_OUTBOUND_${window}_DEFAULT`,
      entity === 'DOMAIN' && window === 'MONTHLY' ? String(allowed) : MANY,
    ]),
  )
  const config = readConfig({
    DATA_DIR: dataDir,
    ...(redisUrl && { REDIS_URL: redisUrl }),
    ...Object.fromEntries(limits),
  })
  const core = await startCore({ config, log, target, listeners: [webhookQueue(config)] })
  const counting = countingOf(core)
  const senders = await startSenders(core)
  const waiting = outbox(core)
  await counting.start(waiting, () => senders.settled())
  const deciding = limiter({ ...core, counters: counting.counters, senders, outbox: waiting })
  const names = Array.from({ length: SENDERS }, (_, n) => `s${n}@limited${n % DOMAINS}.example`)
  const ask = (sender: string, record: boolean) =>
    deciding.check({ sender, direction: 'outbound', record })
  // Warm the sender cache: the lookup of senders is not measured.
  for (const name of names) await ask(name, false)

  let next = 0
  let passed = 0
  const begin = performance.now()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < decisions) {
        const answer = ask(names[next++ % SENDERS] as string, true)
        const decision = answer instanceof Promise ? await answer : answer
        if (decision.allowed) passed++
      }
    }),
  )
  const perSecond = decisions / ((performance.now() - begin) / 1000)
  await counting.stop()
  await senders.close()
  closeCounting(core)
  await core.close()
  return { perSecond, isExact: passed === allowed * DOMAINS }
}
