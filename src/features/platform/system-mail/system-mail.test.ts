import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { startSink } from '../../../../test/support/smtp-sink.ts'

const PATH = '/api/v1/platform/system-mail/test'
let app: App
let sink: Awaited<ReturnType<typeof startSink>>
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  sink = await startSink()
  app = await startApp({ env: { SMTP_HOST: '127.0.0.1', SMTP_PORT: String(sink.port) } })
  operator = await app.operator('operator')
})
afterAll(async () => {
  await app.stop()
  await sink.stop()
})

it('an operator sends a test mail through the configured server (B8)', async () => {
  const answer = await operator.post(PATH, { to: 'ops@elsewhere.test' })
  expect(answer).toMatchObject({
    status: 200,
    body: {
      msg: 'Test mail sent',
      data: {
        to: 'ops@elsewhere.test',
        host: '127.0.0.1',
        port: sink.port,
        tls: 'opportunistic',
        user: null,
        sent: true,
        message_id: expect.stringMatching(/^[^<>]+@[^<>]+$/),
        error: null,
      },
    },
  })
  const [arrived] = sink.to('ops@elsewhere.test')
  expect(arrived?.data).toContain(`Message-ID: <${answer.body.data.message_id}>`)
})

it('the answer has the reason why a test mail was not sent', async () => {
  const answer = await operator.post(PATH, { to: 'ops@reject.test' })
  expect(answer).toMatchObject({ status: 200, body: { data: { sent: false, message_id: null } } })
  expect(answer.body.data.error).toContain('5.1.1')
})

it('takes one address, of operators only', async () => {
  for (const to of ['', 'nobody', 'a@b.test,c@d.test', 'A <a@b.test>']) {
    expect((await operator.post(PATH, { to })).status).toBe(422)
  }
  const support = await app.operator('support')
  expect((await support.post(PATH, { to: 'ops@elsewhere.test' })).status).toBe(403)
})

it('every operator sees the server that system mail goes to', async () => {
  const support = await app.operator('support')
  expect((await support.get('/api/v1/platform/system-mail')).body.data).toEqual({
    host: '127.0.0.1',
    port: sink.port,
    tls: 'opportunistic',
    user: null,
  })
  const tenant = await app.tenant('acme')
  expect((await tenant.get('/api/v1/platform/system-mail')).status).toBe(403)
})
