import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import { type SieveServer, sieveMissing, startSieveServer } from '../support/dovecot-sieve.ts'

const missing = sieveMissing()
const MAILBOX = '/api/v1/mailbox'

describe.skipIf(missing)(`the holder's filters on Dovecot${missing ? `: ${missing}` : ''}`, () => {
  let server: SieveServer
  let app: App
  beforeAll(async () => {
    server = await startSieveServer()
    app = await startApp({ env: server.env })
  })
  afterAll(async () => {
    await app.stop()
    await server.stop()
  })

  it('works', async () => {
    const t = await app.tenant('one')
    const jane = await app.session('mailbox', t.accountId)
    console.log((await jane.get(`${MAILBOX}/capabilities`)).text)
    console.log((await jane.get(`${MAILBOX}/forwarding`)).text)
    console.log(
      (await jane.put(`${MAILBOX}/forwarding`, { enabled: true, addresses: ['a@b.test'] })).text,
    )
    console.log(server.scripts(t.email), server.script(t.email, 'svc-main'))
    console.log(
      await server.deliver(t.email, 'From: x@y.test\nSubject: hi\n\nhello\n'),
      server.sink.messages,
    )
    console.log(server.log().split('\n').slice(-20), server.problems(t.email))
    expect(1).toBe(1)
  })
})
