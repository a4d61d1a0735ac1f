import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterEach, expect, inject, it } from 'vitest'
import { freePort } from '../../src/lib/free-port.ts'
import { bootstrapBoth, installation } from '../support/installation.ts'
import { endOfMessage, policyClient } from '../support/policy.ts'
import { cloneDatabase } from '../support/postgres.ts'
import { cleanUp, type Server, startServer, temporaryFolder } from '../support/process.ts'
import { waitFor } from '../support/wait.ts'

afterEach(cleanUp)

const LOGIN = 'admin@acme.test'
const MAILBOX = `/api/v1/rate-limiter/rate-limits/mailbox/${LOGIN}`
const OPEN = Object.fromEntries(
  ['ORG', 'DOMAIN', 'MAILBOX'].flatMap((entity) =>
    ['SECOND', 'MINUTE'].map((window) => [`${entity}_OUTBOUND_${window}_DEFAULT`, '0']),
  ),
)
const ports = async () => ({
  POLICY_RATE_PORT: String(await freePort()),
  POLICY_ACCESS_PORT: '0',
  AUTH_POLICY_PORT: '0',
})

async function sendMail(port: string, count: number): Promise<string[]> {
  const client = policyClient(Number(port))
  const actions: string[] = []
  for (let i = 0; i < count; i++) actions.push(await client.ask(endOfMessage(LOGIN)))
  client.close()
  return actions
}
const read = (server: Server, apiKey: string) =>
  server.send('GET', MAILBOX, { headers: { 'x-api-key': apiKey } })
const counted = async (server: Server, apiKey: string) =>
  (await read(server, apiKey)).body.data.usage.hourly_count

it('the rate limiter continues its stored counts after a stop and a kill without a pause', async () => {
  const { dataDir, apiKey } = await installation()
  const env = { ...OPEN, ...(await ports()) }
  const first = await startServer({ dataDir, env })
  expect(new Set(await sendMail(env.POLICY_RATE_PORT, 20))).toEqual(new Set(['DUNNO']))
  await first.stop()
  const second = await startServer({ dataDir, env })
  expect(await counted(second, apiKey)).toBe(20)
  second.signal('SIGKILL')
  await second.ended
  const third = await startServer({ dataDir, env })
  expect(await counted(third, apiKey)).toBe(20)
  await third.stop()
})

it('another process takes over from a killed rate limiter, and only one counts at a time', async () => {
  const database = await cloneDatabase(inject('databaseUrl'))
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  const shared = { ...OPEN, DATABASE_URL: database.url, SVC_SECRET_KEY: 'x'.repeat(40) }
  try {
    const env = { ...shared, ...(await ports()) }
    const owner = await startServer({ dataDir: temporaryFolder(), env })
    const { apiKey } = await bootstrapBoth(owner)
    const next = { ...shared, ...(await ports()) }
    const heir = await startServer({ dataDir: temporaryFolder(), env: next })
    await sendMail(env.POLICY_RATE_PORT, 7)
    expect((await read(heir, apiKey)).status).toBe(503)
    await waitFor(async () => {
      const [row] = await sql`select counts from rate_limit_usage where entity_type = 'mailbox'`
      return row?.counts.windows[2].at(-1) === 7
    })
    owner.signal('SIGKILL')
    await owner.ended
    await waitFor(async () => (await read(heir, apiKey)).status === 200)
    expect(await counted(heir, apiKey)).toBe(7)
    await sendMail(next.POLICY_RATE_PORT, 1)
    expect(await counted(heir, apiKey)).toBe(8)
  } finally {
    await cleanUp()
    await sql.end()
    await database.drop()
  }
})

it('a rate limiter starts beside one on the default ports but refuses a configured port in use', async () => {
  const [first, second, third] = [await installation(), await installation(), await installation()]
  const env = await ports()
  const one = await startServer({ dataDir: first.dataDir, env: { ...env, AUTH_POLICY_PORT: '' } })
  const other = await startServer({ dataDir: second.dataDir })
  expect((await other.health()).status).toBe(200)
  await expect(startServer({ dataDir: third.dataDir, env })).rejects.toThrow(/POLICY_RATE_PORT/)
  await Promise.all([one.stop(), other.stop()])
})

it('a rate limiter listens where the mail servers of its own installation ask (N6)', async () => {
  const { dataDir } = await installation()
  const edge = join(dataDir, 'edge')
  mkdirSync(edge)
  const write = async (rate: number) => {
    const [access, auth] = [await freePort(), await freePort()]
    const lines = [`POLICY_RATE_PORT=${rate}`, `POLICY_ACCESS_PORT=${access}`]
    writeFileSync(
      join(edge, 'edge.env'),
      `${[...lines, `AUTH_POLICY_PORT=${auth}`, ''].join('\n')}`,
    )
  }
  const answers = (port: number) =>
    waitFor(() =>
      sendMail(String(port), 1).then(
        ([action]) => action === 'DUNNO',
        () => false,
      ),
    )
  const taken = await freePort()
  const other = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => other.listen(taken, '127.0.0.1', resolve))
  await write(taken)
  const server = await startServer({ dataDir, env: OPEN, hasEdge: true })
  expect(server.output.stderr).toContain(`127.0.0.1:${taken} cannot be used`)
  await new Promise((resolve) => other.close(resolve))
  await answers(taken)
  // The edge starts again with another port.
  const moved = await freePort()
  await write(moved)
  await answers(moved)
  await server.stop()
})
