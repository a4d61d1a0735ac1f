import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import bcrypt from 'bcrypt'
import { openSmtp, type SmtpClient } from '../../test/support/smtp-client.ts'
import { median, table } from '../report.ts'
import { type Installation, insertCredentials, say, withInstallation } from './installation.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const PASSWORD = 'a-long-passphrase-1'
const RULES = 50
const WRITES = 40
const RULES_GOAL_MS = 150
const LOGINS = 200
const BATCH = 40
const AT_ONCE = 8

/** Benchmarks that need real mail servers: writing rules over ManageSieve, logins over SMTP. */
export async function benchMailHost(): Promise<boolean> {
  return withInstallation({}, async (installation) => {
    const edge = (verb: string, ...more: string[]) => {
      const env = { PATH: process.env.PATH, DATA_DIR: installation.dataDir }
      const ran = spawnSync(process.execPath, [MAIN, 'edge', verb, ...more], { env })
      if (ran.status !== 0) throw new Error(`edge ${verb}: ${ran.stderr}`)
      return String(ran.stdout)
    }
    const { submission } = JSON.parse(edge('up', '--json'))
    try {
      await benchRules(installation)
      await benchLogins(installation, submission.port)
      return true
    } finally {
      edge('down', '--delete')
    }
  })
}

async function benchRules({ call, domain }: Installation): Promise<void> {
  const email = `holder@${domain.domain}`
  await call('POST', '/mailboxes/email-accounts', { email, password: PASSWORD })
  const login = { email_address: email, password: PASSWORD }
  const { token } = (await call('POST', '/mailbox-auth/login', login)).data
  const times: number[] = []
  for (let write = 0; write < WRITES; write++) {
    const rules = Array.from({ length: RULES }, (_, n) => ({
      name: `Rule ${n}`,
      match: 'any',
      conditions: [
        { field: 'from', operator: 'contains', value: `sender-${n}-${write}@example.com` },
        { field: 'subject', operator: 'matches', value: `*order ${n}*` },
      ],
      actions: [{ type: 'move', value: `Orders/${n}` }, { type: 'flag' }],
    }))
    const begin = performance.now()
    await call('PUT', '/mailbox/rules', { rules }, { authorization: `Bearer ${token}` })
    times.push(performance.now() - begin)
  }
  say(`\nPUT of ${RULES} rules through ManageSieve and its compiler, ${WRITES} writes`)
  say(`p50 ${median(times).toFixed(1)} ms (aim: under ${RULES_GOAL_MS})`)
}

/** Each login is used once before the cached round. The bare hash is most of the work. */
async function benchLogins(installation: Installation, port: number): Promise<void> {
  const secret = 'a-secret-of-some-length'
  const hash = await bcrypt.hash(secret, 10)
  const usernames = Array.from({ length: LOGINS }, (_, n) => `auth-${n}`)
  const credentials = usernames.map((username) => ({ username, hourlyLimit: null }))
  await insertCredentials(installation, credentials, hash)

  const bare = await perSecond(LOGINS, async () => {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, lane) => {
        for (let n = lane; n < LOGINS; n += AT_ONCE) await bcrypt.compare(secret, hash)
      }),
    )
  })
  const uncached = await logins(port, usernames, secret)
  const cached = await logins(port, usernames, secret)
  say(`\nSMTP AUTH through Postfix and Dovecot, ${AT_ONCE} at once, encrypted connections`)
  say(
    table([
      ['', 'per second', 'of the hash'],
      ['bcrypt, cost 10, alone', bare.toFixed(1), '1.00'],
      ['AUTH, not cached', uncached.toFixed(1), (uncached / bare).toFixed(2)],
      ['AUTH, cached', cached.toFixed(1), (cached / bare).toFixed(2)],
    ]),
  )
}

async function perSecond(count: number, work: () => Promise<void>): Promise<number> {
  const begin = performance.now()
  await work()
  return (count * 1000) / (performance.now() - begin)
}

/** Opens the connections first, so that only the login is timed. */
async function logins(port: number, usernames: string[], secret: string): Promise<number> {
  let milliseconds = 0
  for (let from = 0; from < usernames.length; from += BATCH) {
    const batch = usernames.slice(from, from + BATCH)
    const clients: SmtpClient[] = []
    for (const _ of batch) {
      const client = await openSmtp({ port })
      await client.startTls()
      clients.push(client)
    }
    const begin = performance.now()
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, lane) => {
        for (let n = lane; n < batch.length; n += AT_ONCE) {
          const reply = await clients[n]?.auth(batch[n] ?? '', secret)
          if (reply?.code !== 235) throw new Error(`AUTH ${batch[n]}: ${reply?.text}`)
        }
      }),
    )
    milliseconds += performance.now() - begin
    for (const client of clients) client.quit()
  }
  return (usernames.length * 1000) / milliseconds
}
