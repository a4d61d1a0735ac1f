import { afterAll, expect, it, onTestFinished } from 'vitest'
import { clientOf } from '../support/app.ts'
import { installation } from '../support/installation.ts'
import { cleanUp, startServer } from '../support/process.ts'
import { startReinjectSink } from '../support/reinject-sink.ts'
import { waitFor } from '../support/wait.ts'

const RECIPIENTS = 500
const KILLS = 2
const CONNECTIONS = 4

afterAll(cleanUp)

it('a bulk send survives kill -9: nothing is lost, and a copy has the Message-ID of its original', async () => {
  const sink = await startReinjectSink()
  onTestFinished(() => sink.stop())
  // The mail server takes its time, so that a kill finds messages on their way.
  sink.state.beforeAnswer = () => new Promise((resolve) => setTimeout(resolve, 20))
  const made = await installation()
  const start = () =>
    startServer({
      dataDir: made.dataDir,
      env: {
        MAIL_REINJECT_HOST: '127.0.0.1',
        MAIL_SERVICE_PORT: String(sink.port),
        SENDING_CONNECTIONS: String(CONNECTIONS),
      },
    })
  let server = await start()
  const acme = () => clientOf(server, { 'x-api-key': made.apiKey })
  const template = await acme().post('/api/v1/templates/', {
    name: 'News',
    subject_template: 'News for {{ name }}',
    html_content: '<p>Hello {{ name }}</p>',
  })
  const path = `/api/v1/templates/${template.body.data.id}/send`
  const body = {
    from: 'news@acme.test',
    recipients: Array.from({ length: RECIPIENTS }, (_, at) => ({
      to: `p${at}@elsewhere.test`,
      variables: { name: `n${at}` },
    })),
  }
  const headers = { 'x-api-key': made.apiKey, 'idempotency-key': 'news-1' }
  const send = () => server.send('POST', path, { headers, body })
  const { status, body: answer } = await send()
  expect(status).toBe(202)
  for (let kills = 0; kills < KILLS; kills++) {
    const before = sink.received.length
    await waitFor(() => sink.received.length >= before + 40)
    await server.killNode()
    server = await start()
    // A client that did not see the answer asks again.
    expect((await send()).body).toEqual(answer)
  }

  const idOf = (content: string) => /^Message-ID: (.*)\r$/m.exec(content)?.[1]
  const ids = answer.data.messages.map((one: { message_id: string }) => one.message_id)
  const arrived = () => new Set(sink.received.map(({ content }) => idOf(content)))
  await waitFor(() => arrived().size >= RECIPIENTS)
  expect([...arrived()].sort()).toEqual(ids.toSorted())
  const waiting = async () => {
    const last = await acme().get(`/api/v1/messages/${encodeURIComponent(ids.at(-1))}`)
    return last.status !== 404
  }
  await waitFor(async () => !(await waiting()))
  // A message on each connection may have been accepted without the sender knowing it.
  const copies = sink.received.length - RECIPIENTS
  expect(copies).toBeLessThanOrEqual(KILLS * CONNECTIONS)
  const contents = new Map<string | undefined, Set<string>>()
  for (const { content, recipients } of sink.received) {
    const id = idOf(content)
    contents.set(id, (contents.get(id) ?? new Set()).add(`${recipients} ${content}`))
  }
  expect([...contents.values()].filter(({ size }) => size !== 1)).toEqual([])
  expect(await server.stop()).toMatchObject({ code: 0 })
})
