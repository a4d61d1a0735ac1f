import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, startApp } from '../../../../test/support/app.ts'
import { BROWSER } from '../../../../test/support/tracked.ts'
import { waitFor } from '../../../../test/support/wait.ts'
import type { Mail, Stage } from '../../../content/stage.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { trackingStage } from './tracking.stage.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let stage: Stage
beforeAll(async () => {
  app = await startApp({
    env: {
      TRACKING_ENABLED: 'true',
      TRACKING_EXCLUDE_DOMAINS: 'kept.test',
      SVC_PUBLIC_URL: 'https://mail.acme.test/',
    },
  })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  for (const username of ['acme-app', 'acme-quiet']) {
    const domain_id = acme.domainId
    const tracking_enabled = username === 'acme-app'
    await acme.post('/api/v1/smtp-credentials/', { domain_id, username, tracking_enabled })
  }
  stage = trackingStage(app.core)
})
afterAll(() => app.stop())

const HTML =
  '<body><a href="https://shop.test/?id=7&amp;utm_source=news">x</a><a href="https://www.kept.test/">y</a></body>'
const letter = (html = HTML, id = 'm1@acme.test') =>
  Buffer.from(
    `From: app@acme.test\r\n${id && `Message-ID: <${id}>\r\n`}Content-Type: text/html; charset=utf-8\r\n\r\n${html}`,
  )
const passing = ({ raw = letter(), ...more }: Partial<Mail> & { raw?: Buffer } = {}): Mail => ({
  direction: 'outbound',
  organizationId: acme.organizationId,
  sender: 'app@acme.test',
  recipients: ['Ada@far.test', 'bob@far.test'],
  login: 'acme-app',
  clientIp: '192.0.2.1',
  message: new MimeMessage(raw),
  ...more,
})
const passed = async (message: Mail, through = stage) => {
  const outcome = await through.apply(message)
  if (outcome.kind !== 'pass') throw new Error(outcome.kind)
  return outcome.mails
}
const pathsIn = (raw: Buffer) =>
  [...raw.toString().matchAll(/https:\/\/mail\.acme\.test(\/api\/v1\/tracking\/[^"<> ]+)/g)].map(
    ([, path]) => path as string,
  )

describe('tracked mail', () => {
  it('is split into one copy per recipient, with URLs that do not reveal the recipient', async () => {
    const copies = await passed(passing())
    expect(copies.map(({ recipients }) => recipients)).toEqual([['Ada@far.test'], ['bob@far.test']])
    const [ada = [], bob = []] = copies.map(({ message }) => pathsIn(message.raw))
    expect(ada).toHaveLength(3)
    expect(new Set([...ada, ...bob]).size).toBe(6)
    for (const path of [...ada, ...bob]) {
      const id = path.split(/[/?]/)[5] ?? ''
      // Match whole names only: random bytes can contain three given letters by chance.
      const said = `${id} ${Buffer.from(id, 'base64url').toString('latin1')}`
      expect(said).not.toMatch(/ada@|bob@|far\.test|acme/i)
    }
    const text = copies[0]?.message.raw.toString() ?? ''
    expect(text).toMatch(/^X-Svc-ID: [0-9A-Z]{26}\r$/m)
    expect(text).toMatch(/^List-Unsubscribe: <https:\/\/mail\.acme\.test\/\S+>\r$/m)
    expect(text).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
    expect(text).toContain('href="https://www.kept.test/"')
    expect(text).toMatch(/click\/[\w-]+\?utm_source=news"/)
  })

  it('records the open, click and unsubscribe of its recipient', async () => {
    const emailId = 'whole@acme.test'
    const [copy] = await passed(passing({ raw: letter(HTML, emailId) }))
    const paths = pathsIn(copy?.message.raw ?? Buffer.alloc(0))
    const of = (kind: string) => paths.find((path) => path.includes(`/${kind}/`)) as string
    app.clock.advance(MINUTE_MS)
    const visit = (method: string, path: string) =>
      app.send(method, path, { from: newIp(), headers: { 'user-agent': BROWSER } })
    await visit('GET', of('pixel'))
    const click = await visit('GET', of('click'))
    expect(click.headers.location).toBe('https://shop.test/?id=7&utm_source=news')
    const left = await visit('POST', of('unsubscribe'))
    expect(left.body.email).toBe('ada@far.test')
    const statistics = await waitFor(async () => {
      const { body } = await acme.get(`/api/v1/tracking/stats/email/${emailId}`)
      return Object.keys(body.data.statistics).length === 3 && body.data.statistics
    })
    expect(statistics).toMatchObject({
      opened: { total: 1 },
      clicked: { total: 1 },
      unsubscribed: { total: 1 },
    })
  })

  it('gets a Message-ID when it has none, and statistics use that id', async () => {
    const [copy] = await passed(passing({ raw: letter(HTML, '') }))
    const id = /^Message-ID: <(.+)>\r$/m.exec(copy?.message.raw.toString() ?? '')?.[1] ?? ''
    expect(id).toMatch(/^[0-9A-Z]{26}@acme\.test$/)
    expect((await acme.get(`/api/v1/tracking/stats/email/${id}`)).status).toBe(200)
  })
})

describe('untracked mail', () => {
  it.each([
    ['of a mailbox holder', () => ({ login: 'admin@acme.test' })],
    ['without a login', () => ({ login: undefined })],
    ['of an unknown login', () => ({ login: 'nobody' })],
    ['of a login without tracking', () => ({ login: 'acme-quiet' })],
    ['of a login of another organization', () => ({ organizationId: globex.organizationId })],
    ['a bounce', () => ({ sender: '' })],
    ['without HTML', () => ({ raw: Buffer.from('Subject: x\r\n\r\nplain') })],
  ])('is not split and only gets the X-Svc-ID header: %s', async (_, more) => {
    const message = passing(more())
    const [only, ...others] = await passed(message)
    expect(others).toEqual([])
    expect(only?.recipients).toEqual(message.recipients)
    const stamp = /X-Svc-ID: [0-9A-Z]{26}\r\n/
    expect(only?.message.raw.toString()).toMatch(stamp)
    expect(only?.message.raw.toString().replace(stamp, '')).toBe(message.message.raw.toString())
  })

  it('is passed on in one copy for a domain without tracking', async () => {
    const set = (tracking_enabled: boolean) =>
      app.core.db
        .updateTable('domains')
        .set({ tracking_enabled })
        .where('id', '=', acme.domainId)
        .execute()
    await set(false)
    expect(await passed(passing())).toHaveLength(1)
    await set(true)
    expect(await passed(passing())).toHaveLength(2)
  })

  it('is not changed at all when it is inbound or not a valid message', async () => {
    for (const more of [{ direction: 'inbound' as const }, { raw: Buffer.from('nonsense') }]) {
      const message = passing(more)
      expect(await passed(message)).toEqual([message])
    }
  })

  it('includes all mail while TRACKING_ENABLED is false', async () => {
    const config = { ...app.core.config, TRACKING_ENABLED: false }
    expect(await passed(passing(), trackingStage({ ...app.core, config }))).toHaveLength(1)
  })

  it('includes messages whose copies would need too much memory', async () => {
    const recipients = Array.from({ length: 200 }, (_, n) => `r${n}@far.test`)
    const raw = letter('x'.repeat(400_000))
    expect(await passed(passing({ recipients, raw }))).toHaveLength(1)
  })

  it('includes messages whose tracking data cannot be stored, and they are still sent', async () => {
    const away = { ...app.core, db: undefined as unknown as App['core']['db'] }
    const [only] = await passed(passing(), trackingStage(away))
    expect(only?.message.raw.toString()).toContain('X-Svc-ID')
  })
})

it('changes 20 MB of quoted-printable HTML without keeping the event loop busy (S16)', async () => {
  const head =
    'From: app@acme.test\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n'
  const raw = Buffer.from(head + '<p>caf=C3=A9 and so on=20=\r\n'.repeat(750_000))
  const { threadCpuUsage } = process as typeof process & { threadCpuUsage: typeof process.cpuUsage }
  const before = threadCpuUsage()
  const [copy] = await passed(passing({ raw, recipients: ['ada@far.test'] }))
  const { user, system } = threadCpuUsage(before)
  expect(pathsIn(copy?.message.raw as Buffer)).toHaveLength(2)
  // On the event loop it took 9.5 seconds. The rest is the copy to the worker thread.
  expect(user + system).toBeLessThan(1_500_000)
})
