import { existsSync, readFileSync } from 'node:fs'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { freePort } from '../../src/lib/free-port.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { bootstrapBoth, ownerOf } from '../support/installation.ts'
import { type Pebble, pebbleMissing, preparePebble } from '../support/pebble.ts'
import { cloneDatabase } from '../support/postgres.ts'
import { cleanUp, startServer, temporaryFolder, until } from '../support/process.ts'

const title = pebbleMissing === undefined ? '' : ` (skipped: ${pebbleMissing})`

describe.skipIf(pebbleMissing)(`a certificate order${title}`, () => {
  let database: Awaited<ReturnType<typeof cloneDatabase>>
  let sql: Sql
  let pebble: Pebble
  let dns: Awaited<ReturnType<typeof startDnsServer>>
  beforeAll(async () => {
    database = await cloneDatabase(inject('databaseUrl'))
    sql = postgres(database.url, { max: 1, onnotice: () => {} })
    pebble = await preparePebble()
    dns = await startDnsServer({ 'acme.test': { A: ['127.0.0.1'] } })
  })
  afterAll(async () => {
    await cleanUp()
    await dns.stop()
    await pebble.stop()
    await sql.end()
    await database.drop()
  })

  it('is completed by another process when its process is killed', async () => {
    const folder = temporaryFolder()
    const port = await freePort()
    const env = {
      ...pebble.env,
      DATABASE_URL: database.url,
      SVC_SECRET_KEY: 'the root key that both processes have',
      SVC_COOKIE_SECURE: 'false',
      SVC_DNS_SERVERS: dns.address,
      SVC_CERTIFICATE_DIR: folder,
      CERT_ORDER_TIMEOUT: '20',
    }
    const api = await startServer({
      dataDir: temporaryFolder(),
      env: { ...env, PORT: String(port) },
      args: ['--services', 'api'],
    })
    const manager = () =>
      startServer({ dataDir: temporaryFolder(), env, args: ['--services', 'cert_manager'] })
    // Slow validation gives the test time to kill the process.
    await pebble.start(port, dns.address, 3)
    const owner = ownerOf(api, await bootstrapBoth(api))
    const path = '/api/v1/ssl/certificates/acme.test'
    const first = await manager()
    expect((await owner.post(`${path}/renew`, { reason: 'first' })).status).toBe(202)
    await until(async () => (await sql`select from acme_challenges`).length > 0)
    await first.killNode()
    const [order] = await sql`select state, attempts from acme_orders`
    expect(order).toEqual({ state: 'running', attempts: 1 })
    // As if the lease of the killed process had expired.
    await sql`update acme_orders set lease_until = now()`

    const second = await manager()
    await until(async () => (await owner.get(path)).body.data.status === 'active')
    expect(await sql`select state, attempts from acme_orders`).toEqual([
      { state: 'done', attempts: 2 },
    ])
    await until(() => existsSync(`${folder}/acme.test.pem`))
    expect(readFileSync(`${folder}/acme.test.pem`, 'utf8')).toContain('BEGIN CERTIFICATE')

    // A graceful stop returns the order.
    await sql`delete from acme_challenges`
    expect((await owner.post(`${path}/renew`, { reason: 'again' })).status).toBe(202)
    await until(async () => (await sql`select from acme_challenges`).length > 0)
    expect((await second.stop()).code).toBe(0)
    const [open] = await sql`
      select state, attempts from acme_orders where state in ('waiting', 'running')`
    expect(open).toEqual({ state: 'waiting', attempts: 0 })
    await api.stop()
  })
})
