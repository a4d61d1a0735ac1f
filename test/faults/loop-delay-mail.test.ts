import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../src/lib/free-port.ts'
import { originKey } from '../../src/mail/origin.ts'
import { type App, startApp } from '../support/app.ts'
import { type HostileMessage, hostileMessages } from '../support/hostile-messages.ts'
import { type MeasuredServer, startMeasuredServer } from '../support/measured-server.ts'
import { cleanUp } from '../support/process.ts'
import { openSmtp } from '../support/smtp-client.ts'
import { startHarmlessRspamd, startSwallowingSmtp } from '../support/swallowing-servers.ts'

const BOUND_MS = 50
const LOGIN = 'acme-app'

let app: App
let sink: Awaited<ReturnType<typeof startSwallowingSmtp>>
let rspamd: Awaited<ReturnType<typeof startHarmlessRspamd>>
let server: MeasuredServer
let acme: Awaited<ReturnType<App['tenant']>>
let filterPort: number
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  sink = await startSwallowingSmtp()
  rspamd = await startHarmlessRspamd()
  filterPort = await freePort()
  await acme.post('/api/v1/smtp-credentials/', {
    domain_id: acme.domainId,
    username: LOGIN,
    tracking_enabled: true,
  })
  await expensiveRules()
  server = await startMeasuredServer(app, {
    SVC_SERVICES: 'api,worker,content_filter',
    CONTENT_FILTER_PORT: String(filterPort),
    MAIL_REINJECT_HOST: '127.0.0.1',
    MAIL_REINJECT_PORT: String(sink.port),
    MAIL_FILTERED_PORT: String(sink.port),
    RSPAMD_URL: rspamd.url,
    TRACKING_ENABLED: 'true',
  })
})
afterAll(async () => {
  await server?.stop()
  await sink?.stop()
  await rspamd?.stop()
  await app?.stop()
  await cleanUp()
})

/** Rules and policies that look at every part of a message. */
async function expensiveRules() {
  const rule = async (name: string, conditions: object[], action: object) => {
    const answer = await acme.post('/api/v1/transport-rules/', {
      name,
      condition_logic: 'any',
      conditions,
      actions: [action],
    })
    expect(answer.status, answer.text).toBe(201)
  }
  await rule('Counted', [{ field: 'subject', operator: 'regex', value: '[ab]*a[ab]{100}z' }], {
    type: 'add_header',
    params: { name: 'X-Found', value: 'yes' },
  })
  await rule('Attachments', [{ field: 'has_attachment', operator: 'equals', value: 'true' }], {
    type: 'add_disclaimer',
    params: { text: 'Checked' },
  })
  await rule('Held', [{ field: 'subject', operator: 'contains', value: 'hold this' }], {
    type: 'quarantine',
    params: {},
  })
  const owner = await app.operator('owner')
  for (const [policy_type, patterns] of [
    ['pii', ['credit_card', 'iban']],
    ['keyword', ['project zeus']],
    ['regex', ['[ab]*a[ab]{20}z']],
  ]) {
    const answer = await owner.post('/api/v1/security/dlp/policies', {
      organization_id: acme.organizationId,
      name: `Policy ${policy_type}`,
      policy_type,
      patterns,
      action: 'log_only',
      apply_to: 'both',
      reason: 'test',
    })
    expect(answer.status, answer.text).toBe(201)
  }
}

async function send({ text, direction, recipients }: HostileMessage): Promise<string> {
  const client = await openSmtp({ port: filterPort, patienceMs: 120_000 })
  const others = Array.from({ length: recipients - 1 }, (_, index) => `u${index}@acme.test`)
  const reply =
    direction === 'outbound'
      ? await client.send({
          from: 'app@acme.test',
          to: ['friend@far.test', ...others],
          text: `X-Mailplane-Origin: ${originKey(app.core.vault)} ${LOGIN}\r\n${text}`,
        })
      : await client.send({ from: 'x@far.test', to: [acme.email, ...others], text })
  client.quit()
  return reply.text
}

const standstills = (direction: HostileMessage['direction']) =>
  server.standstills(
    hostileMessages(direction).map((message) => ({
      name: message.name,
      run: async () => {
        const reply = `${message.name}: ${await send(message)}`
        expect(reply).toMatch(new RegExp(`: (?:[${message.reply}]\\d\\d |451 4\\.3\\.1 )`))
      },
    })),
    BOUND_MS,
  )

it('measures at least 200 messages', () => {
  const all = [...hostileMessages('outbound'), ...hostileMessages('inbound')]
  expect(all.length).toBeGreaterThanOrEqual(200)
})

it('does not stand still for hostile mail of a login (S4, S16)', async () => {
  expect(await standstills('outbound')).toEqual([])
})

it('does not stand still for hostile mail from outside (S4, S16)', async () => {
  expect(await standstills('inbound')).toEqual([])
})
