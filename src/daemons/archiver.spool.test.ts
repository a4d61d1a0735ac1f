import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import {
  ARCHIVE,
  type ArchiveHost,
  letter,
  OUTSIDE,
  restore,
  search,
  spoolOf,
  startArchiveHost,
  type Tenant,
  uploaded,
} from '../../test/support/archive-host.ts'
import { openSmtp } from '../../test/support/smtp-client.ts'
import { waitFor } from '../../test/support/wait.ts'
import { archiveStage } from '../features/archive/archive.stage.ts'
import { openSpool } from '../features/archive/spool/spool.ts'
import { sweepSpool } from '../features/archive/spool/sweep.ts'
import { archiveWaiting } from '../features/platform/alerts/host-figures.ts'
import { HOUR_MS, MINUTE_MS } from '../lib/time.ts'
import { archiver } from './archiver.ts'
import { startContentFilter } from './content-filter.ts'

let host: ArchiveHost
let app: App
let acme: Tenant
let tenants = 0
beforeAll(async () => {
  host = await startArchiveHost()
  app = host.app
})
beforeEach(async () => {
  await host.s3.back()
  app.clock.reset()
  tenants++
  acme = await host.adminOf(`acme${tenants}`)
})
afterAll(() => host.stop())

it('takes mail while storage is away, says so, and drains by itself', async () => {
  await host.s3.away()
  for (const subject of ['one', 'two', 'three']) {
    expect(await host.pass(acme.email, letter(subject))).toMatch(/^250 /)
  }
  const operator = await app.operator('support')
  const status = await waitFor(async () => {
    const { spools } = (await operator.get(`${ARCHIVE}/spool`)).body.data
    return spools[0]?.problem && spools[0].messages === 3 && spools[0]
  })
  expect(status.problem).toMatch(/^object storage unreachable/)
  app.clock.advance(26 * HOUR_MS)
  expect(await archiveWaiting(app.core)).toBeCloseTo(26, 0)
  const found = await search(acme)
  expect(found.map((one) => one.storage_type)).toEqual(['spool', 'spool', 'spool'])
  expect((await restore(acme, found[0]?.id)).text).toContain('a secret sentence')
  for (const name of spoolOf(app)) {
    expect(readFileSync(join(app.dataDir, 'archive-spool', name)).includes('secret')).toBe(false)
  }
  // Object storage refuses requests whose time is wrong.
  app.clock.reset()
  await host.s3.back()
  await uploaded(acme, 3)
  expect(host.objectsOf(acme)).toHaveLength(3)
  await waitFor(async () => {
    const { spools } = (await operator.get(`${ARCHIVE}/spool`)).body.data
    return spools[0].messages === 0 && spools[0].problem === null
  })
  expect(await archiveWaiting(app.core)).toBe(0)
})

it('removes files that a crash left in the spool, and no others', async () => {
  await host.s3.away()
  await host.pass(acme.email, letter('waits'))
  const [kept] = spoolOf(app)
  await openSpool(app.core.config).write(
    'x/01ARZ3NDEKTSV4RRFFQ69G5FAV.eml.zst.age',
    Buffer.from('x'),
  )
  expect(await sweepSpool(app.core)).toBe(0)
  app.clock.advance(HOUR_MS + MINUTE_MS)
  expect(await sweepSpool(app.core)).toBe(1)
  expect(spoolOf(app)).toEqual([kept])
})

describe('a full spool', () => {
  const noise = () => letter('large', randomBytes(900_000).toString('base64'))

  it.each([
    ['defers mail', 'true', /^451 4\.7\.1 the message cannot be archived now/, 1],
    ['lets mail pass and counts it', 'false', /^250 /, 2],
  ])('%s with ARCHIVE_REQUIRED=%s, and recovers', async (_does, required, reply, delivered) => {
    const folder = mkdtempSync(join(tmpdir(), 'mailplane-archive-'))
    const env = {
      ARCHIVE_FOLDER: folder,
      ARCHIVE_SPOOL_MAX_MB: '2',
      ARCHIVE_REQUIRED: required,
      MAIL_REINJECT_HOST: '127.0.0.1',
      MAIL_REINJECT_PORT: String(host.behind.port),
      CONTENT_FILTER_PORT: '0',
    }
    const small = await startApp({ env })
    const tenant = await small.tenant('small')
    const neighbour = await small.tenant('neighbour')
    host.behind.received.length = 0
    const own = await startContentFilter(small.core, [archiveStage(small.core)])
    const send = async (to: string, text: string) => {
      const postfix = await openSmtp({ port: own.filterPort as number })
      const answer = await postfix.send({ from: OUTSIDE, to, text })
      postfix.quit()
      return answer.text
    }
    expect(await send(tenant.email, noise())).toMatch(/^250 /)
    expect(await send(tenant.email, noise())).toMatch(reply)
    expect(host.behind.received).toHaveLength(delivered)
    expect(spoolOf(small)).toHaveLength(1)
    const operator = await small.operator('support')
    const { spools } = (await operator.get(`${ARCHIVE}/spool`)).body.data
    expect(spools).toMatchObject([{ messages: 1, failures: 1 }])
    // The room that is left is for others.
    expect(await send(neighbour.email, letter('small'))).toMatch(/^250 /)
    expect(spoolOf(small)).toHaveLength(2)
    const service = await archiver.start(small.core)
    await waitFor(() => spoolOf(small).length === 0)
    expect(await service.metrics?.()).toMatch(/^archiver_archive_store_failures_total 1$/m)
    expect(readdirSync(folder, { recursive: true, encoding: 'utf8' }).join()).toContain('.age')
    expect((await tenant.get(`${ARCHIVE}/search`)).body.data.items).toMatchObject([
      { storage_type: 'local', subject: 'large' },
    ])
    await waitFor(async () => (await send(tenant.email, noise())).startsWith('250'))
    await service.stop()
    await own.stop()
    await small.stop()
    rmSync(folder, { recursive: true, force: true })
  })
})
