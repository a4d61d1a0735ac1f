import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootstrap } from '../bootstrap.ts'
import { startGenerator } from '../generator.ts'
import type { Row } from '../parts.ts'
import { type Started, start, stopAll } from '../servers.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const ROUNDS = 3
const CONNECTIONS = 32
const SETTLE_MS = 2000
const MEASURE_MS = 5000

/** Requests a second of several workers beside one process; the generator has a core of its own. */
export default async function measure(): Promise<Row[]> {
  const several = Math.max(2, Math.floor(cpus().length / 2))
  const one = await throughput(1)
  const many = await throughput(several)
  const aim = several === 2 ? 1.5 : 0.85 * several
  return [
    { what: 'auth/me a second, one process', value: one.toFixed(0) },
    { what: `auth/me a second, ${several} workers`, value: many.toFixed(0) },
    {
      what: `${several} workers, times one process`,
      value: (many / one).toFixed(2),
      aim: `at least ${aim}`,
    },
  ]
}

async function throughput(workers: number): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailplane-bench-workers-'))
  const started: Started[] = []
  const environment = {
    DATA_DIR: dataDir,
    PORT: '0',
    SVC_WORKERS: String(workers),
    SVC_USER: 'root',
    SVC_LOG_LEVEL: 'warn',
  }
  try {
    const server = await start(process.execPath, [MAIN, 'serve'], environment, started)
    const { api_key } = await bootstrap(server.url, dataDir)
    const generator = startGenerator(started)
    const { pid } = started.at(-1)?.child ?? {}
    spawnSync('taskset', ['-cp', String(cpus().length - 1), String(pid)])
    let best = 0
    for (let round = 0; round < ROUNDS; round++) {
      const { perSecond } = await generator.run({
        port: server.port,
        method: 'GET',
        path: '/api/v1/auth/me',
        headers: { 'x-api-key': api_key },
        status: 200,
        connections: CONNECTIONS,
        settleMs: SETTLE_MS,
        measureMs: MEASURE_MS,
      })
      best = Math.max(best, perSecond)
    }
    return best
  } finally {
    await stopAll(started)
    rmSync(dataDir, { recursive: true, force: true })
  }
}
