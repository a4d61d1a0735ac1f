import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { HARD, LATER, mailLog } from '../../../test/support/mail-log.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { ulid } from '../../lib/ulid.ts'
import { startIngestor } from '../mail-log/ingestor.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
const path = join(tmpdir(), `mailplane-traffic-${ulid()}.log`)
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(async () => {
  await app.stop()
  rmSync(path, { force: true })
})

const read = async (tenant: typeof acme, route: string) =>
  (await tenant.get(`/api/v1/analytics/${route}/${tenant.domain}`)).body.data

/** Reads the whole log, from its start, until nothing new is found in it. */
async function ingest(rows: number): Promise<void> {
  const config = { ...app.core.config, MAIL_LOG_NAME: ulid() }
  const ingestor = startIngestor({ ...app.core, config }, path)
  await waitFor(async () => {
    const { db } = app.core
    const positions = await db
      .selectFrom('mail_log_positions')
      .select('offset')
      .where('name', '=', `${config.MAIL_LOG_NAME}:${path}`)
      .execute()
    return (positions[0]?.offset ?? 0) > 0 && ingestor.counts.rows === rows
  })
  await ingestor.stop()
}

it('shows mail as soon as it is read, and the same when it is read again', async () => {
  const log = mailLog(path)
  log.message({ sender: 'a@acme.test', recipient: 'b@elsewhere.test' })
  log.message({ sender: 'a@acme.test', recipient: 'b@globex.test' })
  log.message({ sender: 'a@acme.test', recipient: 'c@acme.test' })
  log.message({ sender: 'x@elsewhere.test', recipient: 'c@acme.test' })
  log.message({ sender: 'a@acme.test', recipient: 'no@elsewhere.test', ...HARD })
  log.message({ sender: 'a@globex.test', recipient: 'b@elsewhere.test', ...LATER, removed: false })
  log.refusal(
    '554 5.7.1 <q@elsewhere.test>: Relay access denied',
    'a@globex.test',
    'q@elsewhere.test',
  )
  for (const rows of [7, 0]) {
    await ingest(rows)
    expect(await read(acme, 'dashboard')).toMatchObject({
      total_sent: 4,
      delivered: 3,
      bounced: 1,
      failed: 0,
    })
    expect(await read(globex, 'dashboard')).toMatchObject({
      total_sent: 2,
      delivered: 0,
      failed: 2,
    })
    const volumes = await Promise.all([acme, globex].map((tenant) => read(tenant, 'email-volume')))
    expect(volumes.map(({ volume }) => volume)).toEqual([
      [{ date: expect.any(String), outbound: 4, inbound: 2 }],
      [{ date: expect.any(String), outbound: 2, inbound: 1 }],
    ])
  }
})
