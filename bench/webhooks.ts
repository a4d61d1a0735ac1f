import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Started, stopAll } from './servers.ts'
import { measureClaims } from './webhooks/claims.ts'
import { measureLatency } from './webhooks/latency.ts'
import { delivering, emit, expectAllRecorded, startMailplane } from './webhooks/mailplane.ts'
import { perSecond, startReceiver } from './webhooks/receipts.ts'
import { BULLMQ, prepareBullMq, startRedis } from './webhooks/redis.ts'
import { type Contestant, claims, latencies, throughput } from './webhooks/report.ts'
import { startSender } from './webhooks/sender.ts'

const CONCURRENCY = 50
const EACH_SECOND = 200

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '40000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '10' },
    waiting: { type: 'string', default: '1000,100000,1000000' },
  },
})
const count = Number(values.events)
const sizes = values.waiting.split(',').map(Number)
const folder = mkdtempSync(join(tmpdir(), 'mailplane-hooks-'))
const started: Started[] = []

async function stop() {
  await stopAll(started)
  rmSync(folder, { recursive: true, force: true })
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stop().then(() => process.exit(1)))
}

const say = (text: string) => process.stdout.write(`${text}\n`)

try {
  const receiver = await startReceiver(started)
  const dataDir = join(folder, 'data')
  const { server, database } = await startMailplane(
    dataDir,
    delivering(receiver, CONCURRENCY),
    started,
  )
  const job = { url: receiver.url, count, concurrency: CONCURRENCY }
  const raw = startSender('./raw-loop.ts', [], started)
  let emitted = 0
  const contestants: Contestant[] = [
    { name: 'raw keep-alive POST loop', send: () => raw(job), rates: [] },
    {
      name: 'Mailplane, PostgreSQL, every commit synchronized',
      async send() {
        await emit(database, count)
        emitted += count
        await receiver.waitFor(count)
        await expectAllRecorded(database, emitted)
      },
      rates: [],
    },
  ]
  const packages = join(folder, 'bullmq')
  const missing = prepareBullMq(packages)
  for (const sync of missing === undefined ? (['everysec', 'always'] as const) : []) {
    const port = await startRedis(join(folder, `redis-${sync}`), sync, started)
    const send = startSender('./bullmq.ts', [packages, String(port)], started)
    const name = `BullMQ ${BULLMQ}, Redis, appendfsync ${sync}`
    contestants.push({ name, send: () => send(job), rates: [] })
  }

  let bytes = 0
  // In rotation, so that other load on the machine affects all equally. The first round is the
  // warm-up.
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (const { name, send, rates } of contestants) {
      await receiver.forget()
      await send()
      const receipts = await receiver.waitFor(count)
      if (receipts.count !== count)
        throw new Error(`${name}: ${receipts.count} of ${count} arrived`)
      bytes = Math.max(bytes, receipts.bytes / count)
      if (round > 0) rates.push(perSecond(receipts))
    }
  }
  say(`Node ${process.versions.node}, ${process.arch}, ${cpus().length} cores`)
  say(
    `${count} events of ${Math.round(bytes)} bytes, concurrency ${CONCURRENCY}, medians of ${values.rounds} rounds, load average ${loadavg()[0]?.toFixed(1)}\n`,
  )
  say(throughput(contestants))
  if (missing !== undefined) say(`BullMQ was left out: ${missing}\n`)

  const paced = await measureLatency(database, receiver, EACH_SECOND, Number(values.seconds))
  say(latencies(EACH_SECOND, paced))

  // The same database, without delivery.
  await database.close()
  await stopAll(started.splice(started.indexOf(server), 1))
  const idle = await startMailplane(dataDir, {}, started)
  say(claims(await measureClaims(idle.database, sizes)))
  await idle.database.close()
} finally {
  await stop()
}
