import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { geoFile } from '../../../test/support/geo-file.ts'
import { BROWSER, trackedMessage } from '../../../test/support/tracked.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { DAY_MS, HOUR_MS } from '../../lib/time.ts'
import { forgetTracking } from './tracking.jobs.ts'

let folder: string
let app: App
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mailplane-geo-'))
  const file = join(folder, 'countries.mmdb')
  writeFileSync(file, geoFile({ '127.20.0.0/16': 'DE', '127.30.0.0/16': 'fr' }))
  app = await startApp({
    env: {
      GEOIP_DATABASE: file,
      TRACKING_DATA_RETENTION_DAYS: '30',
      TRACKING_IP_RETENTION_DAYS: '7',
    },
  })
  acme = await app.tenant('acme')
})
afterAll(async () => {
  await app.stop()
  rmSync(folder, { recursive: true })
})

type Message = Awaited<ReturnType<typeof trackedMessage>>

const visit = (path: string, from: string) =>
  app.send('GET', path, { from, headers: { 'user-agent': BROWSER } })
const eventsOf = ({ emailId }: Message) =>
  app.core.db
    .selectFrom('tracking_events')
    .select(['event_type', 'ip_address', 'country', 'city'])
    .where('email_id', '=', emailId)
    .orderBy('id')
    .execute()
const opened = async (message: Message, from: string) => {
  const before = (await eventsOf(message)).length
  await visit(message.pixel, from)
  return waitFor(async () => {
    const rows = await eventsOf(message)
    return rows.length > before && rows
  })
}

describe('the country of a tracking event', () => {
  it('is looked up in GEOIP_DATABASE by client IP, or null', async () => {
    const message = await trackedMessage(app, acme)
    await opened(message, '127.20.1.1')
    await opened(message, '127.30.1.1')
    expect(await opened(message, '127.40.1.1')).toMatchObject([
      { country: 'DE', city: null },
      { country: 'FR' },
      { country: null },
    ])
  })
})

describe('the retention of tracking data', () => {
  it('removes IP addresses first, and later deletes events and links', async () => {
    const [old, young] = [
      await trackedMessage(app, acme, { links: ['https://shop.test/'] }),
      await trackedMessage(app, acme, { links: ['https://shop.test/'] }),
    ]
    await opened(old, '127.20.1.2')
    // Backdate the rows: sessions of this test would expire if the clock advanced that far.
    const age = async (message: Message, days: number) => {
      const at = new Date(app.clock.now().getTime() - days * DAY_MS).toISOString()
      const { db } = app.core
      await db
        .updateTable('tracking_events')
        .set({ created_at: at })
        .where('email_id', '=', message.emailId)
        .execute()
      await db
        .updateTable('tracked_messages')
        .set({ created_at: at })
        .where('email_id', '=', message.emailId)
        .execute()
    }
    await opened(young, '127.20.1.3')
    await forgetTracking.run(app.core)
    expect(await eventsOf(old)).toMatchObject([{ ip_address: '127.20.1.2' }])

    await age(old, 8)
    await forgetTracking.run(app.core)
    expect(await eventsOf(old)).toMatchObject([{ ip_address: null, country: 'DE' }])
    expect((await visit(old.link(0), '127.20.1.2')).status).toBe(302)
    await waitFor(async () => (await eventsOf(old)).length === 2)

    await age(old, 31)
    await forgetTracking.run(app.core)
    expect(await eventsOf(old)).toEqual([])
    // Wait until the cached target of the link has expired.
    app.clock.advance(HOUR_MS)
    expect((await visit(old.link(0), '127.20.1.2')).status).toBe(404)
    expect((await app.send('POST', old.unsubscribe)).status).toBe(404)
    expect(await eventsOf(young)).toMatchObject([{ ip_address: '127.20.1.3' }])
    expect((await visit(young.link(0), '127.20.1.3')).status).toBe(302)
  })

  it('deletes more rows than one batch holds', async () => {
    const message = await trackedMessage(app, acme)
    const created_at = new Date(app.clock.now().getTime() - 31 * DAY_MS).toISOString()
    const [row] = await opened(message, '127.20.1.4').then(() =>
      app.core.db
        .selectFrom('tracking_events')
        .selectAll()
        .where('email_id', '=', message.emailId)
        .execute(),
    )
    const rows = Array.from({ length: 5001 }, (_, n) => ({
      ...(row as NonNullable<typeof row>),
      id: `old-${n}`,
      created_at,
    }))
    for (let at = 0; at < rows.length; at += 1000) {
      await app.core.db
        .insertInto('tracking_events')
        .values(rows.slice(at, at + 1000))
        .execute()
    }
    await forgetTracking.run(app.core)
    expect(await eventsOf(message)).toHaveLength(1)
  })
})
