import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { passwordHashing } from '../../src/lib/password-hashing.ts'
import type { startGenerator } from '../generator.ts'
import type { Installation } from './installation.ts'

const CONNECTIONS = 8
const CREATE_MS = 10_000
const HASH_MS = 3000
const PROBE_MS = 50

export interface Creating {
  perSecond: number
  p50Ms: number
  p99Ms: number
  hashesPerSecond: number
  healthP50Ms: number
  healthP99Ms: number
}

/**
 * Mailboxes created per second at the largest domain, compared with the bare hash rate of the
 * machine.
 */
export async function measureCreating(
  { server, callers, database }: Installation,
  generator: ReturnType<typeof startGenerator>,
): Promise<Creating> {
  const [domain] = await database.sql`
    select domain from domains order by total_email_accounts desc limit 1`
  const before = await hashesPerSecond()
  const health = probe(`${server.url}/health`)
  const { perSecond, p50Ms, p99Ms } = await generator.run({
    port: server.port,
    method: 'POST',
    path: '/api/v1/mailboxes/email-accounts',
    headers: { ...callers.tenant, 'content-type': 'application/json' },
    body: `{"email":"new.{n}@${domain?.domain}","password":"a-long-passphrase-1"}`,
    status: 201,
    connections: CONNECTIONS,
    settleMs: 500,
    measureMs: CREATE_MS,
  })
  const latencies = (await health.stop()).sort((a, b) => a - b)
  const quantile = (part: number) => latencies[Math.ceil(part * latencies.length) - 1] ?? Number.NaN
  // Hash before and after, so that other load on the machine affects both equally.
  const hashes = (before + (await hashesPerSecond())) / 2
  return {
    perSecond,
    p50Ms,
    p99Ms,
    hashesPerSecond: hashes,
    healthP50Ms: quantile(0.5),
    healthP99Ms: quantile(0.99),
  }
}

async function hashesPerSecond(): Promise<number> {
  const passwords = passwordHashing('standard')
  const end = performance.now() + HASH_MS
  let count = 0
  const loop = async () => {
    while (performance.now() < end) {
      await passwords.hash('a-long-passphrase-1')
      count++
    }
  }
  const begin = performance.now()
  await Promise.all(Array.from({ length: availableParallelism() }, loop))
  return (count * 1000) / (performance.now() - begin)
}

/** Sends a request now and then: a blocked event loop responds late. */
function probe(url: string) {
  const latencies: number[] = []
  let running = true
  const loop = async () => {
    while (running) {
      const sentAt = performance.now()
      await (await fetch(url)).arrayBuffer()
      latencies.push(performance.now() - sentAt)
      await sleep(PROBE_MS)
    }
  }
  const ended = loop()
  return {
    async stop() {
      running = false
      await ended
      return latencies
    },
  }
}
