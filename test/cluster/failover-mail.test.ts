import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing } from '../support/edge.ts'
import { bootstrapBoth, ownerOf } from '../support/installation.ts'
import { startMailLoad, WITHOUT_LIMITS } from '../support/mail-load.ts'
import { type Cluster, documented, patroniMissing, startCluster } from '../support/patroni.ts'
import {
  cleanUp,
  run,
  type Server,
  startServer,
  temporaryFolder,
  until,
} from '../support/process.ts'
import { skipped } from '../support/programs.ts'

// Five seconds, for a machine that is five times slower.
const RIGHT_AGAIN_MS = 25_000
const USER = 'admin@acme.test'

const missing = patroniMissing ?? edgeMissing
const title = 'mail servers behind haproxy whose PostgreSQL fails over'
describe.skipIf(missing)(`${title}${skipped(missing)}`, () => {
  let cluster: Cluster
  let dataDir: string
  let env: Record<string, string>
  let server: Server
  let made: Awaited<ReturnType<typeof bootstrapBoth>>
  let ports: Record<string, { port: number }>
  beforeAll(async () => {
    cluster = await startCluster()
    await cluster.complete()
    await cluster.command(documented('sh', 'create role'))
    const folder = temporaryFolder()
    chmodSync(folder, 0o755)
    dataDir = join(folder, 'data')
    mkdirSync(dataDir)
    env = {
      ...WITHOUT_LIMITS,
      DATABASE_URL: cluster.url,
      EDGE_DATABASE_URL: await cluster.startHaproxy(),
      SVC_SECRET_KEY: 'the root key of this installation',
      SVC_COOKIE_SECURE: 'false',
      SVC_MAIL_HOSTNAME: 'mx.edge.test',
      CONTENT_FILTER_PORT: '0',
      EDGE_RELAY_HOST: '[127.0.0.1]:9',
    }
    const up = await run(['edge', 'up', '--json'], { DATA_DIR: dataDir, ...env })
    expect(up.stderr).toBe('')
    ports = JSON.parse(up.stdout)
    server = await startServer({ dataDir, env, hasEdge: true })
    made = await bootstrapBoth(server)
  })
  afterAll(async () => {
    await server?.stop()
    await run(['edge', 'down', '--delete'], { DATA_DIR: dataDir, ...env })
    await cleanUp()
    await cluster?.stop()
  })

  const portOf = (name: string) => ports[name]?.port as number

  it('answer temporary failures only, are soon right again, and lose and double no mail', async () => {
    const load = startMailLoad({
      ports: {
        smtp: portOf('smtp'),
        submission: portOf('submission'),
        imaps: portOf('imaps'),
        lmtp: portOf('lmtp'),
      },
      user: USER,
      password: PASSWORD,
    })
    for (const fault of ['kill', 'freeze'] as const) {
      await load.succeeds()
      await cluster.complete()
      const primary = (await cluster.primary()) ?? ''
      const before = load.counts.temporary
      cluster[fault](primary)
      await until(() => load.counts.temporary > before)
      await until(async () => ![undefined, primary].includes(await cluster.primary()))
      const since = Date.now()
      await load.succeeds()
      expect(load.lastFailedStart - since).toBeLessThan(RIGHT_AGAIN_MS)
      cluster.mend(primary)
    }
    await load.succeeds()
    await load.stop()
    expect(load.permanent).toEqual([])
    const owner = ownerOf(server, made)
    await owner.post('/api/v1/queue/mail-queue/flush', { reason: 'a test' })
    await until(async () => (await load.missing()).lost.length === 0)
    expect(await load.missing()).toEqual({ lost: [], doubled: [] })
  })
})
