import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { startReinjectSink } from '../../test/support/reinject-sink.ts'
import { message, openSmtp } from '../../test/support/smtp-client.ts'
import { waitFor } from '../../test/support/wait.ts'
import { startContentFilter } from '../daemons/content-filter.ts'
import { suppress } from '../hosting/suppressions.repository.ts'
import { originKey } from '../mail/origin.ts'
import type { Mail, Outcome } from './stage.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: typeof acme
let behind: Awaited<ReturnType<typeof startReinjectSink>>
let filter: Awaited<ReturnType<typeof startContentFilter>>
let act: (mail: Mail) => Outcome
const seen: Mail[] = []
beforeAll(async () => {
  behind = await startReinjectSink()
  const port = String(behind.port)
  app = await startApp({
    env: {
      MAIL_REINJECT_HOST: '127.0.0.1',
      MAIL_REINJECT_PORT: port,
      MAIL_FILTERED_PORT: port,
      CONTENT_FILTER_PORT: '0',
      CONTENT_FILTER_WORKERS: '2',
    },
  })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  const stage = {
    name: 'trivial',
    apply: async (mail: Mail) => {
      seen.push(mail)
      return act(mail)
    },
  }
  filter = await startContentFilter(app.core, [stage])
})
afterAll(async () => {
  await filter.stop()
  await app.stop()
  await behind.stop()
})
beforeEach(() => {
  behind.state.mood = 'well'
  behind.received.length = 0
  seen.length = 0
  act = (mail) => ({ kind: 'pass', mails: [mail] })
})

/** Sends inbound mail as Postfix does. */
async function arrive(to: string | string[], text = message('x@elsewhere.test', 'to', 'hello')) {
  const postfix = await openSmtp({ port: filter.filterPort as number })
  const reply = await postfix.send({ from: 'x@elsewhere.test', to, text })
  postfix.quit()
  return reply.text
}
const originOf = (login: string, key = originKey(app.core.vault)) =>
  `X-Mailplane-Origin: ${key} ${login}\n`

it('replies after Postfix has accepted the message', async () => {
  let isTaken = false
  behind.state.beforeAnswer = async () => {
    isTaken = true
  }
  expect(await arrive(acme.email)).toBe('250 2.0.0 Ok: queued')
  expect(isTaken).toBe(true)
  behind.state.mood = 'drops'
  expect(await arrive(acme.email)).toMatch(/^451 4\.3\.0 /)
  behind.state.mood = 'refuses'
  expect(await arrive(acme.email)).toBe('550 5.1.1 No such user')
})

it('runs all stages before it hands on any mail', async () => {
  act = (mail) => {
    if (mail.organizationId === globex.organizationId) throw new Error('not now')
    return { kind: 'pass', mails: [mail] }
  }
  expect(await arrive([acme.email, globex.email])).toMatch(/^451 /)
  expect(seen).toHaveLength(2)
  expect(behind.received).toEqual([])
})

it('accepts mail that a stage holds and mail without remaining recipients', async () => {
  act = () => ({ kind: 'held' })
  expect(await arrive(acme.email)).toMatch(/^250 /)
  act = (mail) => ({ kind: 'pass', mails: [{ ...mail, recipients: [] }] })
  expect(await arrive(acme.email)).toMatch(/^250 /)
  expect(behind.received).toEqual([])
})

it('reduces the text of a rejection to one line of ASCII', async () => {
  act = () => ({ kind: 'reject', text: 'no\r\n250 yes \u00fc' })
  expect(await arrive(acme.email)).toBe('554 5.7.1 no 250 yes  ')
  act = () => ({ kind: 'reject', text: '5.6.0 not like this' })
  expect(await arrive(acme.email)).toBe('554 5.6.0 not like this')
})

it('ignores an origin header without the key and defers an unknown login', async () => {
  const text = message('x@elsewhere.test', 'to', 'hello')
  await arrive(acme.email, originOf(globex.email, 'f'.repeat(64)) + text)
  expect(seen[0]).toMatchObject({ direction: 'inbound', organizationId: acme.organizationId })
  await arrive('friend@elsewhere.test', originOf(globex.email) + originOf('other') + text)
  expect(seen[1]).toMatchObject({ direction: 'outbound', login: globex.email })
  expect(await arrive(acme.email, originOf('nobody') + text)).toMatch(/^451 4\.7\.1 .*not known/)
  for (const { content } of behind.received) expect(content).not.toMatch(/mailplane-origin/i)
})

it('defers inbound mail to a domain that is not hosted', async () => {
  expect(await arrive('friend@elsewhere.test')).toMatch(/^451 4\.7\.1 .*not hosted here/)
  expect(behind.received).toEqual([])
})

it('hands on a message without headers, an empty one, and one with many recipients', async () => {
  for (const text of ['\njust a body', '', 'Subject: no body']) {
    expect(await arrive(acme.email, text)).toMatch(/^250 /)
  }
  expect(behind.received.map(({ content }) => content.trim())).toEqual([
    'just a body',
    '',
    'Subject: no body',
  ])
  const many = Array.from({ length: 200 }, (_, n) => `reader+${n}@${acme.domain}`)
  expect(await arrive(many)).toMatch(/^250 /)
  expect(behind.received.at(-1)?.recipients).toEqual(many)
})

it('filters at most CONTENT_FILTER_WORKERS messages at once', async () => {
  let now = 0
  let most = 0
  behind.state.beforeAnswer = async () => {
    most = Math.max(most, ++now)
    // The first message waits for a second one, however slow the machine is.
    await waitFor(() => most >= 2)
    await new Promise((resolve) => setTimeout(resolve, 20))
    now--
  }
  const replies = await Promise.all(Array.from({ length: 12 }, () => arrive(acme.email)))
  behind.state.beforeAnswer = async () => {}
  expect(replies.every((reply) => reply.startsWith('250 '))).toBe(true)
  expect(most).toBe(2)
})

it.each([
  'List-Unsubscribe: <https://acme.test/u>',
  'List-Id: <news.acme.test>',
  'Precedence: bulk',
])('B4.8: refuses suppressed recipients of list mail of a mailbox (%s)', async (header) => {
  const { organizationId: organization_id, email } = acme
  const row = { email: 'left@elsewhere.test', organization_id, reason: null, source: null }
  const { db } = app.core
  await db.transaction().execute((tx) => suppress(tx, 'UNSUBSCRIBE', [row], app.clock.now()))
  const text = message(email, 'reader', 'news')
  const both = ['Left@elsewhere.test', 'reader@elsewhere.test']
  expect(await arrive(both, originOf(email) + text)).toMatch(/^250 /)
  expect(behind.received.at(-1)?.recipients).toEqual(both)
  const list = `${originOf(email)}${header}\n${text}`
  expect(await arrive('Left@elsewhere.test', list)).toMatch(/^554 5\.7\.1 .*suppressed/)
  behind.received.length = 0
  expect(await arrive(both, list)).toMatch(/^250 /)
  const [sent, notice] = behind.received
  expect(sent?.recipients).toEqual(['reader@elsewhere.test'])
  expect(notice).toMatchObject({ sender: '', recipients: ['x@elsewhere.test'] })
  expect(notice?.content).toContain('<Left@elsewhere.test>: 5.7.1 the address is suppressed')
})
