import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runningEmbedded, urlOf } from '../../src/database/embedded.ts'
import { freePort } from '../../src/lib/free-port.ts'
import { aim, median, table } from '../report.ts'
import { start } from '../servers.ts'
import { type Installation, insertCredentials, say, withInstallation } from './installation.ts'
import type { PolicyAnswers, PolicyJob } from './policy-load.ts'

const CONNECTIONS = 32
const MEASURE_MS = 5000
const ROUNDS = 3
const LIMIT = 1000
const PEER = '/usr/bin/policyd-rate-limit'
const PLENTY = 2_000_000_000
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const SECRET = { SVC_SECRET_KEY: 'a root key for measuring, of 32 characters' }
const GOALS = { times: 10, p99Ms: 5 }

/** Decisions over Postfix's policy protocol beside Debian's policyd-rate-limit. */
export async function benchPolicy(): Promise<boolean> {
  if (!existsSync(PEER)) {
    throw new Error('policyd-rate-limit is missing: apt-get install policyd-rate-limit')
  }
  return withInstallation({ ...SECRET, SVC_SERVICES: 'api' }, async (installation) => {
    const ours = { port: await startLimiter(installation), state: 'END-OF-MESSAGE' as const }
    const theirs = { port: await startPeer(installation), state: 'RCPT' as const }
    const logins = Array.from({ length: 200 }, (_, n) => `login-${n}`)
    const open = logins.map((username) => ({ username, hourlyLimit: PLENTY }))
    const bounded = { username: 'bounded', hourlyLimit: LIMIT }
    await insertCredentials(installation, [...open, bounded], 'none')
    const measure = { connections: CONNECTIONS, logins, measureMs: MEASURE_MS }
    const rounds: { ours: PolicyAnswers[]; theirs: PolicyAnswers[] } = { ours: [], theirs: [] }
    for (let round = 0; round < ROUNDS; round++) {
      rounds.theirs.push(await ask({ ...measure, ...theirs }))
      rounds.ours.push(await ask({ ...measure, ...ours }))
    }
    const tenfold = GOALS.times * median(rounds.theirs.map(({ perSecond }) => perSecond))
    const paced: PolicyAnswers[] = []
    for (let round = 0; round < ROUNDS; round++) {
      paced.push(await ask({ ...measure, ...ours, perSecond: tenfold }))
    }
    const questions = 4 * LIMIT
    const exact = { connections: CONNECTIONS, logins: ['bounded'], questions }
    const { allowed } = await ask({ ...exact, ...ours })
    return report({ ...rounds, paced }, allowed, questions)
  })
}

/** Runs in its own process, like policyd-rate-limit. */
async function startLimiter({ dataDir, folder, started }: Installation): Promise<number> {
  const port = await freePort()
  const target = runningEmbedded(dataDir)
  if (!target) throw new Error('the embedded PostgreSQL is not running')
  const own = {
    ...SECRET,
    ...limits(),
    DATABASE_URL: urlOf(target),
    DATA_DIR: join(folder, 'limiter'),
    PORT: '0',
    POLICY_RATE_PORT: String(port),
  }
  await start(process.execPath, [MAIN, 'serve', '--services', 'rate_limiter'], own, started)
  return port
}

function limits() {
  const entities = ['ORG', 'DOMAIN']
  const windows = ['SECOND', 'MINUTE', 'HOURLY', 'DAILY', 'MONTHLY', 'BURST']
  return Object.fromEntries(
    entities.flatMap((entity) =>
      windows.map((window) => [`${entity}_OUTBOUND_${window}_DEFAULT`, String(PLENTY)]),
    ),
  )
}

/** Default backend (SQLite) and default windows, with limits that are never reached. */
async function startPeer({ folder, started }: Installation): Promise<number> {
  const port = await freePort()
  const config = join(folder, 'policyd.yaml')
  writeFileSync(
    config,
    `debug: False
user: "root"
group: "root"
pidfile: "${folder}/policyd.pid"
sqlite_config:
    database: "${folder}/policyd.sqlite3"
backend: 0
SOCKET: ["127.0.0.1", ${port}]
limits:
    - [${PLENTY}, 60]
    - [${PLENTY}, 86400]
limit_by_sasl: True
limit_by_sender: False
limit_by_ip: False
success_action: "dunno"
fail_action: "defer_if_permit Rate limit reached"
db_error_action: "defer_if_permit Database error"
delay_to_close: 300
report: False
`,
  )
  const child = spawn(PEER, ['--file', config], { stdio: ['ignore', 'ignore', 'inherit'] })
  started.push({ child, url: '', port })
  for (let tries = 0; tries < 100; tries++) {
    const socket = connect(port, '127.0.0.1')
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isThere) return port
    await sleep(100)
  }
  throw new Error('policyd-rate-limit did not start')
}

/** Runs the load in its own process, so that it shares no event loop with a server. */
async function ask(job: PolicyJob): Promise<PolicyAnswers> {
  const child = fork(fileURLToPath(new URL('./policy-load.ts', import.meta.url)))
  try {
    const answered = once(child, 'message') as Promise<[PolicyAnswers | { error: string }]>
    child.send(job)
    const [answer] = await answered
    if ('error' in answer) throw new Error(answer.error)
    return answer
  } finally {
    child.kill()
  }
}

type Who = 'ours' | 'theirs' | 'paced'

function report(rounds: Record<Who, PolicyAnswers[]>, allowed: number, questions: number): boolean {
  const of = (who: Who, figure: 'perSecond' | 'p50Ms' | 'p99Ms') =>
    median(rounds[who].map((answers) => answers[figure]))
  say(`\nrate decisions, ${CONNECTIONS} connections, median of ${ROUNDS} rounds`)
  const row = (name: string, who: Who) => [
    name,
    String(Math.round(of(who, 'perSecond'))),
    of(who, 'p50Ms').toFixed(2),
    of(who, 'p99Ms').toFixed(2),
  ]
  say(
    table([
      ['', 'per second', 'p50 ms', 'p99 ms'],
      row('Mailplane, full load', 'ours'),
      row(`Mailplane, at ${GOALS.times} times the rate of policyd`, 'paced'),
      row('policyd-rate-limit', 'theirs'),
    ]),
  )
  const times = of('ours', 'perSecond') / of('theirs', 'perSecond')
  say(`${times.toFixed(1)} times policyd-rate-limit`)
  say(aim(`at least ${GOALS.times} times policyd-rate-limit`, times >= GOALS.times))
  const p99Ms = of('paced', 'p99Ms')
  say(aim(`p99 under ${GOALS.p99Ms} ms at ${GOALS.times} times its rate`, p99Ms < GOALS.p99Ms))
  say(`limit of ${LIMIT}, ${questions} requests: ${allowed} allowed`)
  return allowed === LIMIT
}
