import postgres from 'postgres'
import { documented, patroniMissing, startCluster, TTL } from '../../test/support/patroni.ts'
import { cleanUp, startServer, temporaryFolder, until } from '../../test/support/process.ts'
import { startWriters } from '../../test/support/writers.ts'
import { bootstrap } from '../bootstrap.ts'
import type { Row } from '../parts.ts'

const FAULTS = 20
const KINDS = ['kill', 'freeze', 'silence'] as const
const WRITERS = 4

/** Takes the primary of a Patroni cluster away under load, again and again. */
export default async function measure(): Promise<Row[]> {
  if (patroniMissing) return [{ what: 'failover', value: `left out: ${patroniMissing}` }]
  const cluster = await startCluster()
  try {
    await cluster.complete()
    await cluster.command(documented('sh', 'create role'))
    const env = {
      DATABASE_URL: cluster.url,
      SVC_SECRET_KEY: 'the root key of the server that is measured',
    }
    const server = await startServer({ dataDir: temporaryFolder(), env })
    const { api_key } = await bootstrap(server.base, server.dataDir)
    const writers = startWriters({
      base: () => server.base,
      apiKey: api_key,
      writers: WRITERS,
      prefix: 'failover',
      pauseMs: 20,
    })
    const seconds = new Map<string, number[]>(KINDS.map((kind) => [kind, []]))
    for (let fault = 0; fault < FAULTS; fault++) {
      const kind = KINDS[fault % KINDS.length] ?? 'kill'
      await cluster.complete()
      const primary = (await cluster.primary()) ?? ''
      cluster[kind](primary)
      const since = Date.now()
      await until(() => writers.newest > since)
      const taken = (Date.now() - since) / 1000
      seconds.get(kind)?.push(taken)
      process.stderr.write(`  fault ${fault + 1}, ${kind}: ${taken.toFixed(1)} s\n`)
      cluster.mend(primary)
    }
    await cluster.complete()
    await writers.stop()
    const sql = postgres(await cluster.primaryUrl(), { max: 1 })
    const stored = new Set((await sql`select domain from domains`).map(({ domain }) => domain))
    await sql.end()
    const lost = writers.acknowledged.filter((domain) => !stored.has(domain)).length
    const answers = [...writers.outcomes].map(([outcome, count]) => `${count} of ${outcome}`)
    return [
      {
        what: `acknowledged writes lost over ${FAULTS} faults`,
        value: `${lost} of ${writers.acknowledged.length}`,
        aim: '0',
      },
      { what: 'answers', value: answers.join(', '), aim: 'only 201 and 503' },
      ...[...seconds].map(([kind, found]) => ({
        what: `writes again after a ${kind}, least, median, most`,
        value: spread(found),
        aim: `${TTL + 3} s`,
      })),
    ]
  } finally {
    await cleanUp()
    await cluster.stop()
  }
}

function spread(values: number[]): string {
  const sorted = values.sort((one, other) => one - other)
  const chosen = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  return `${chosen.map((value) => value?.toFixed(1)).join(', ')} s`
}
