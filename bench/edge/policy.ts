import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../src/lib/free-port.ts'
import { median, table } from '../report.ts'
import { type Installation, insertCredentials, say, withInstallation } from './installation.ts'
import type { PolicyAnswers, PolicyJob } from './policy-load.ts'

const CONNECTIONS = 32
const MEASURE_MS = 5000
const ROUNDS = 3
const LIMIT = 1000
const PEER = '/usr/bin/policyd-rate-limit'
const PLENTY = 2_000_000_000
const GOALS = { times: 10, p99Ms: 5 }

/** Decisions over Postfix's policy protocol beside Debian's policyd-rate-limit. */
export async function benchPolicy(): Promise<boolean> {
  if (!existsSync(PEER)) {
    throw new Error('policyd-rate-limit is missing: apt-get install policyd-rate-limit')
  }
  const port = await freePort()
  return withInstallation(environment(port), async (installation) => {
    const ours = { port, state: 'END-OF-MESSAGE' as const }
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
    const questions = 4 * LIMIT
    const exact = { connections: CONNECTIONS, logins: ['bounded'], questions }
    const { allowed } = await ask({ ...exact, ...ours })
    return tell(rounds, allowed, questions)
  })
}

const environment = (port: number) => {
  const entities = ['ORG', 'DOMAIN']
  const windows = ['SECOND', 'MINUTE', 'HOURLY', 'DAILY', 'MONTHLY', 'BURST']
  const limits = entities.flatMap((entity) =>
    windows.map((window) => [`${entity}_OUTBOUND_${window}_DEFAULT`, String(PLENTY)]),
  )
  return { POLICY_RATE_PORT: String(port), ...Object.fromEntries(limits) }
}

/** With SQLite, as it comes; two windows, as it comes; limits that nobody reaches. */
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

/** From a process of its own, so that it shares no event loop with anything. */
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

function tell(
  rounds: { ours: PolicyAnswers[]; theirs: PolicyAnswers[] },
  allowed: number,
  questions: number,
): boolean {
  const of = (who: 'ours' | 'theirs', figure: 'perSecond' | 'p50Ms' | 'p99Ms') =>
    median(rounds[who].map((answers) => answers[figure]))
  say(`\nrate decisions, ${CONNECTIONS} connections, median of ${ROUNDS} rounds`)
  const row = (name: string, who: 'ours' | 'theirs') => [
    name,
    String(Math.round(of(who, 'perSecond'))),
    of(who, 'p50Ms').toFixed(2),
    of(who, 'p99Ms').toFixed(2),
  ]
  say(
    table([
      ['', 'per second', 'p50 ms', 'p99 ms'],
      row('Mailplane', 'ours'),
      row('policyd-rate-limit', 'theirs'),
    ]),
  )
  const times = of('ours', 'perSecond') / of('theirs', 'perSecond')
  say(
    `${times.toFixed(1)} times policyd-rate-limit (aim: ${GOALS.times}), ` +
      `p99 ${of('ours', 'p99Ms').toFixed(2)} ms (aim: under ${GOALS.p99Ms})`,
  )
  say(`a limit of ${LIMIT} under ${questions} questions: ${allowed} allowed`)
  return allowed === LIMIT
}
