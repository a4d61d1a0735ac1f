import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startGenerator } from './generator.ts'
import type { Measurement } from './load.ts'
import { median, table } from './report.ts'
import { type Creating, measureCreating } from './scale/creating.ts'
import { startInstallation } from './scale/installation.ts'
import { type SequentialScan, sequentialScans } from './scale/plans.ts'
import { type Case, cases, yardstick } from './scale/requests.ts'
import { SIZES } from './scale/seed.ts'
import { type Started, stopAll } from './servers.ts'

const CONNECTIONS = 1
const ROUNDS = 3
const SETTLE_MS = 50
const MEASURE_MS = 1000
const SLOW = 4
const YARD_EVERY = 10
const GOAL = 10
const DEEP_GOAL = 40

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
const chosen = cases.filter(({ name }) => name.includes(values.only))
const folder = mkdtempSync(join(tmpdir(), 'mailplane-scale-'))
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
  const installation = await startInstallation(folder, started)
  const { server, callers, database, seedSeconds, postgresLog } = installation
  const sizes = Object.entries(SIZES).map(([what, size]) => `${size} ${what}`)
  say(`Node ${process.versions.node}, ${process.arch}, ${cpus().length} cores`)
  say(`${sizes.join(', ')}; seeded in ${seedSeconds.toFixed(0)} s`)

  const generator = startGenerator(started)
  const run = ({ caller, path }: Case, measureMs: number) =>
    generator.run({
      port: server.port,
      method: 'GET',
      path,
      headers: callers[caller],
      status: 200,
      connections: CONNECTIONS,
      settleMs: SETTLE_MS,
      measureMs,
    })
  /** A request that takes longer than the window gets a longer window. */
  const measure = async (request: Case) => {
    const measured = await run(request, MEASURE_MS)
    return measured.perSecond > 0 ? measured : run(request, SLOW * MEASURE_MS)
  }
  for (let i = 0; i < 4; i++) await measure(yardstick)
  const rounds: Round[] = []
  // In rotation, so that other load on the machine affects all requests equally.
  for (let round = 0; round < ROUNDS; round++) {
    const measured = new Map<Case, Measurement>()
    const yard: number[] = []
    for (const [index, request] of chosen.entries()) {
      if (index % YARD_EVERY === 0) yard.push((await measure(yardstick)).p50Ms)
      measured.set(request, await measure(request))
    }
    rounds.push({ measured, yardMs: median(yard) })
  }
  say(
    `${CONNECTIONS} connections, best of ${ROUNDS} rounds each, load average ${loadavg()[0]?.toFixed(1)}\n`,
  )
  say(reportOf(rounds))

  const send = async ({ caller, path }: Case) => {
    const response = await fetch(`${server.url}${path}`, { headers: callers[caller] })
    if (!response.ok) throw new Error(`${path}: ${response.status}`)
    await response.arrayBuffer()
  }
  const scans = await sequentialScans(database.sql, postgresLog, chosen, send)
  say(scansOf(scans))
  if (scans.some(({ reason }) => reason === undefined)) process.exitCode = 1

  if (values.only === '') say(creatingOf(await measureCreating(installation, generator)))
  await database.close()
} finally {
  await stop()
}

interface Round {
  measured: Map<Case, Measurement>
  yardMs: number
}

/** Uses the best round of each request, because other load on the machine can only add time. */
function reportOf(rounds: Round[]): string {
  const rows = chosen.map((request) => {
    const results = rounds.map(({ measured, yardMs }) => {
      const { perSecond, ...latency } = measured.get(request) as Measurement
      const never = { p50Ms: Number.POSITIVE_INFINITY, p99Ms: Number.POSITIVE_INFINITY }
      const { p50Ms, p99Ms } = perSecond > 0 ? latency : never
      return { p50Ms, p99Ms, yardMs, ratio: p99Ms / yardMs }
    })
    const [best] = results.sort((a, b) => a.ratio - b.ratio)
    const { p50Ms, p99Ms, yardMs, ratio } = best as (typeof results)[number]
    return [
      `${request.caller}: ${request.name}`,
      p50Ms.toFixed(2),
      p99Ms.toFixed(2),
      (p50Ms / yardMs).toFixed(1),
      `${ratio.toFixed(1)}${ratio < (request.isDeep ? DEEP_GOAL : GOAL) ? ' ' : '!'}`,
    ]
  })
  const above = rows.filter((row) => row.at(-1)?.endsWith('!')).length
  const yards = rounds.map(({ yardMs }) => yardMs.toFixed(2)).join(', ')
  return [
    table([['', 'p50 ms', 'p99 ms', 'p50 ratio', 'p99 ratio '], ...rows]),
    '',
    `ratios to the p50 of a ${yardstick.name} in the same round (${yards} ms)`,
    `${above} of ${rows.length} have a p99 that is not under ${GOAL}, or ${DEEP_GOAL} for a deep page\n`,
  ].join('\n')
}

function scansOf(scans: SequentialScan[]): string {
  if (scans.length === 0) return 'no sequential scans\n'
  const statements = Map.groupBy(
    scans,
    ({ table: scanned, query, reason }) => `${scanned} (${reason ?? 'NOT EXPECTED'}): ${query}`,
  )
  const lines = [...statements].map(([statement, of]) => {
    const requests = of.map(({ case: { caller, name } }) => `    ${caller}: ${name}`)
    return [`sequential scan of ${statement.replaceAll(/\s+/g, ' ')}`, ...requests].join('\n')
  })
  return `${lines.join('\n')}\n`
}

function creatingOf(creating: Creating): string {
  const { perSecond, p50Ms, p99Ms, hashesPerSecond, healthP50Ms, healthP99Ms } = creating
  return [
    `mailboxes created: ${perSecond.toFixed(1)}/s (p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms)`,
    `hashes alone: ${hashesPerSecond.toFixed(1)}/s, so ${(perSecond / hashesPerSecond).toFixed(2)} of them`,
    `/health meanwhile: p50 ${healthP50Ms.toFixed(1)} ms, p99 ${healthP99Ms.toFixed(1)} ms`,
  ].join('\n')
}
