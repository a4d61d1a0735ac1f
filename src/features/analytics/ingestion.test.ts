import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
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

/** Ingests the whole log from its start and waits for this number of new rows. */
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

it('shows mail as soon as it is ingested, and counts nothing twice on a second read', async () => {
  const log = mailLog(path)
  log.message({ sender: 'a@acme.test', recipient: 'b@elsewhere.test' })
  log.message({ sender: 'a@acme.test', recipient: 'b@globex.test' })
  log.message({ sender: 'a@acme.test', recipient: 'c@acme.test' })
  log.message({ sender: 'x@elsewhere.test', recipient: 'c@acme.test' })
  log.message({ sender: 'a@acme.test', recipient: 'no@elsewhere.test', ...HARD })
  log.message({ sender: 'a@globex.test', recipient: 'b@elsewhere.test', ...LATER, removed: false })
  // Sent by a stranger in the name of globex: it belongs to no tenant.
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
      total_sent: 1,
      delivered: 0,
      failed: 1,
    })
    const volumes = await Promise.all([acme, globex].map((tenant) => read(tenant, 'email-volume')))
    expect(volumes.map(({ volume }) => volume)).toEqual([
      [{ date: expect.any(String), outbound: 4, inbound: 2 }],
      [{ date: expect.any(String), outbound: 1, inbound: 1 }],
    ])
  }
})

it('counts a retried message once, by its last state, and every attempt apart (B5.6)', async () => {
  const initech = await app.tenant('initech')
  rmSync(path, { force: true })
  const log = mailLog(path)
  const sender = 'a@initech.test'
  const recipients = ['one@elsewhere.test', 'two@elsewhere.test', 'three@elsewhere.test']
  const sent = recipients.map((recipient) => ({ recipient, ...log.arrive({ sender }) }))
  for (let tries = 0; tries < 6; tries++) {
    for (const { queueId, recipient } of sent) log.attempt(queueId, { recipient, ...LATER })
  }
  await ingest(18)
  expect(await read(initech, 'dashboard')).toMatchObject({
    total_sent: 3,
    delivered: 0,
    failed: 3,
    attempts: 18,
  })
  expect((await read(initech, 'email-volume')).volume).toMatchObject([{ outbound: 3 }])

  const [delivered, bounced, expired] = sent as [
    (typeof sent)[0],
    (typeof sent)[0],
    (typeof sent)[0],
  ]
  log.attempt(delivered.queueId, { recipient: delivered.recipient })
  log.attempt(bounced.queueId, { recipient: bounced.recipient, ...HARD })
  log.write(`qmgr[13]: ${expired.queueId}: from=<${sender}>, status=expired, returned to sender`)
  // The whole log is read again: 18 attempts are stored already.
  await ingest(3)
  for (const folded of [false, true]) {
    if (folded) await sql`select fold_mail_traffic(1000)`.execute(app.core.db)
    expect(await read(initech, 'dashboard')).toMatchObject({
      total_sent: 3,
      delivered: 1,
      bounced: 2,
      failed: 0,
      attempts: 21,
    })
    expect((await read(initech, 'email-volume')).volume).toMatchObject([{ outbound: 3 }])
  }
})
