import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../src/lib/free-port.ts'
import { localQueueCommands } from '../../src/mail/postfix-program.ts'
import { postfixQueue } from '../../src/mail/postfix-queue.ts'
import { remoteQueueCommands } from '../../src/mail/remote-queue.ts'
import { postfixMissing, startPostfix } from '../../test/support/postfix.ts'
import { waitFor } from '../../test/support/wait.ts'
import { withInstallation } from '../edge/installation.ts'
import type { Row } from '../parts.ts'

const MESSAGES = 10_000
const ROUNDS = 9
const TOKEN = 'a token that both processes have in common'

/** A listing of 10,000 deferred messages, compared with `postqueue -j` in the same rounds. */
export default async function queue(): Promise<Row[]> {
  const missing = postfixMissing()
  if (missing) return [{ what: 'listing', value: missing }]
  const postfix = await startPostfix()
  try {
    await fill(postfix.configDir)
    const env = {
      POSTFIX_CONFIG_DIR: postfix.configDir,
      SVC_INTERNAL_TOKEN: TOKEN,
      SVC_USER: 'root',
    }
    return await withInstallation(env, ({ server }) => compare(postfix.configDir, server.url))
  } finally {
    await postfix.remove()
  }
}

async function compare(configDir: string, url: string): Promise<Row[]> {
  const here = postfixQueue(
    localQueueCommands(() => configDir),
    () => true,
  )
  const there = postfixQueue(remoteQueueCommands(url, TOKEN), () => true)
  const walked = async (one: typeof here) => {
    let count = 0
    await one.walk(() => count++)
    if (count !== MESSAGES) throw new Error(`${count} messages were listed`)
  }
  const ways: Record<string, () => Promise<unknown>> = {
    'postqueue -j': () => listed(configDir),
    'read by this process': () => walked(here),
    'read over the queue manager': () => walked(there),
    'GET /api/status': async () => {
      const headers = { 'x-internal-token': TOKEN }
      const answer = await fetch(`${url}/api/status`, { headers })
      const { total_messages } = (await answer.json()) as { total_messages: number }
      if (total_messages !== MESSAGES) throw new Error(`${total_messages} messages were listed`)
    },
  }
  const times = new Map(Object.keys(ways).map((name): [string, number[]] => [name, []]))
  // The ways take turns, so that a busy moment of the machine concerns all of them.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, run] of Object.entries(ways)) {
      const begun = performance.now()
      await run()
      if (round > 0) times.get(name)?.push(performance.now() - begun)
    }
  }
  const median = (name: string) =>
    times.get(name)?.sort((one, other) => one - other)[Math.floor(ROUNDS / 2)] as number
  const bare = median('postqueue -j')
  return Object.keys(ways).map((name) => ({
    what: `${name}, ${MESSAGES} messages`,
    value: `${median(name).toFixed(0)} ms, ${(median(name) / bare).toFixed(2)} of postqueue -j`,
    ...(name !== 'postqueue -j' && { aim: 'at most 1.20' }),
  }))
}

const listed = (configDir: string) =>
  new Promise<void>((resolve, reject) => {
    const program = spawn('postqueue', ['-c', configDir, '-j'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    program.stdout.resume()
    program.once('error', reject).once('close', () => resolve())
  })

/** Submits the messages over SMTP; all of them are deferred at once. */
async function fill(configDir: string): Promise<void> {
  const port = await freePort()
  appendFileSync(
    join(configDir, 'master.cf'),
    `127.0.0.1:${port} inet n - n - - smtpd
proxymap unix - - n - - proxymap
anvil unix - - n - 1 anvil
`,
  )
  appendFileSync(
    join(configDir, 'main.cf'),
    'mynetworks = 127.0.0.0/8\nsmtpd_relay_restrictions = permit_mynetworks, reject\ndefer_transports = smtp\n',
  )
  execFileSync('postfix', ['-c', configDir, 'reload'], { stdio: 'ignore' })
  const source = (messages: number) =>
    execFileSync(
      'smtp-source',
      [
        '-s',
        '10',
        '-m',
        String(messages),
        '-f',
        'a@acme.test',
        '-t',
        'b@far.test',
        `127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    )
  await waitFor(() => {
    try {
      source(1)
      return true
    } catch {
      return false
    }
  })
  source(MESSAGES - 1)
  await waitFor(() => {
    const output = execFileSync('postqueue', ['-c', configDir, '-j'], { maxBuffer: 1 << 28 })
    const lines = output.toString('utf8').trim().split('\n')
    return lines.length === MESSAGES && lines.every((line) => line.includes('"deferred"'))
  })
}
