import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { startReinjectSink } from '../../test/support/reinject-sink.ts'
import {
  type Quarantining,
  quarantineService,
} from '../features/message-trace/quarantine.service.ts'
import { protectReleased } from '../features/url-protection/links/protect-released.ts'
import { MimeMessage } from '../mime/message.ts'
import { urlProtection } from './url-protection.ts'

const API = '/api/v1/url-protection'
const SAFE = 'https://mail.acme.test/safe/'
const TARGET = 'https://shop.test/offer'
const LETTER = `From: ada@far.test\r\nSubject: offer\r\n\r\nsee ${TARGET}\r\n`

let app: App
let sink: Awaited<ReturnType<typeof startReinjectSink>>
let acme: Awaited<ReturnType<App['tenant']>>
let globex: typeof acme
let admin: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  sink = await startReinjectSink()
  const port = String(sink.port)
  app = await startApp({
    env: {
      SVC_PUBLIC_URL: 'https://mail.acme.test',
      MAIL_REINJECT_HOST: '127.0.0.1',
      MAIL_REINJECT_PORT: port,
      MAIL_FILTERED_PORT: port,
    },
    daemons: [urlProtection],
  })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  admin = await app.operator('admin')
})
beforeEach(async () => {
  await turn(acme, true)
  await turn(globex, false)
  sink.received.length = 0
})
afterAll(async () => {
  await app.stop()
  await sink.stop()
})

const turn = async (tenant: typeof acme, enabled: boolean) => {
  expect((await tenant.put(`${API}/settings`, { enabled })).status).toBe(200)
}
/** Holds a message back, releases it, and returns what arrived. */
async function released(more: Partial<Quarantining>) {
  const id = await app.core.db.transaction().execute((tx) =>
    quarantineService(app.core).hold(tx, {
      organization_id: acme.organizationId,
      message_id: '<held@far.test>',
      queue_id: null,
      sender: 'ada@far.test',
      recipient: acme.email,
      subject: 'offer',
      reason: 'spam',
      headers: {},
      content: Buffer.from(LETTER),
      ...more,
    }),
  )
  const because = { reason: 'asked for by the recipient' }
  const answer = await admin.post(`/api/v1/message-trace/quarantine/${id}/release`, because)
  expect(answer.status, answer.text).toBe(200)
  return sink.received.map(({ recipients, content }) => ({ recipients, content }))
}
const pathIn = (content = '') => /https:\/\/mail\.acme\.test(\/safe\/\S+)/.exec(content)?.[1] ?? ''

describe('links of mail that is released from quarantine', () => {
  it('lead over the check, and to their address by a click', async () => {
    const [mail, ...more] = await released({})
    expect(more).toEqual([])
    expect(mail?.recipients).toEqual([acme.email])
    expect(mail?.content).not.toContain(TARGET)
    const click = await app.send('GET', pathIn(mail?.content))
    expect(click).toMatchObject({ status: 302, headers: { location: TARGET } })
  })

  it('stay for an organization that did not ask, and on the way out', async () => {
    const kept = [{ recipients: [globex.email], content: LETTER }]
    const theirs = { organization_id: globex.organizationId, recipient: globex.email }
    expect(await released(theirs)).toEqual(kept)
    sink.received.length = 0
    const outgoing = { sender: acme.email, login: acme.email, recipient: 'friend@far.test' }
    expect((await released(outgoing))[0]?.content).toContain(TARGET)
  })

  it('are protected for the other organization that an alias leads to', async () => {
    const team = `team@${acme.domain}`
    const destination = `${acme.email},${globex.email}`
    expect((await acme.post('/api/v1/aliases/add', { source: team, destination })).status).toBe(200)
    await turn(acme, false)
    const alias = { recipient: team }
    expect(await released(alias)).toEqual([{ recipients: [team], content: LETTER }])
    sink.received.length = 0
    await turn(globex, true)
    const copies = await released(alias)
    expect(copies.map(({ recipients }) => recipients)).toEqual([[acme.email], [globex.email]])
    expect(copies[0]?.content).toBe(LETTER)
    expect(copies[1]?.content).toContain(SAFE)
    expect(pathIn(copies[1]?.content)).toContain(globex.organizationId)
  })
})

it('a message is released with its links while they cannot be rewritten', async () => {
  const failing = {
    ...app.core,
    workers: { ...app.core.workers, run: () => Promise.reject(new Error('no threads')) },
  }
  const message = new MimeMessage(Buffer.from(LETTER))
  const row = { organization_id: acme.organizationId, recipient: acme.email, login: null, message }
  expect(await protectReleased(failing, row)).toEqual([{ recipient: acme.email, message }])
})
