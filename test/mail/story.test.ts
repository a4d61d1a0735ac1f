import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { signatureOf, verifies } from '../support/dkim-verifier.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn } from '../support/imap-client.ts'
import { startReceiver } from '../support/receiver.ts'
import { message } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

describe.skipIf(edgeMissing)(`a mail host from beginning to end${skipped}`, () => {
  let host: MailHost
  let sink: Awaited<ReturnType<typeof startReceiver>>
  beforeAll(async () => {
    sink = await startReceiver()
    host = await startMailHost({ env: { WEBHOOK_URL: sink.url } })
  })
  afterAll(async () => {
    await host?.stop()
    await sink?.stop()
  })

  it('sends, signs, delivers, emits events, counts, and refuses a revoked credential', async () => {
    const acme = await host.app.tenant('acme')
    const made = await host.app.hostedDomain(acme, { domain: 'story.test' })
    const domainId = made.id as string
    const email = 'reader@story.test'
    const mailbox = { email, password: PASSWORD }
    expect((await acme.post('/api/v1/mailboxes/email-accounts', mailbox)).status).toBe(201)
    const credential = await acme.post('/api/v1/smtp-credentials/', { domain_id: domainId })
    const { id, username, secret } = credential.body.data

    // The key takes a moment to reach Rspamd; until then mail is sent unsigned.
    const owner = await host.app.operator('owner')
    const record = (await owner.get(`/api/v1/domains/${domainId}/dkim`)).body.data.items[0]
    const client = await host.submission()
    expect((await client.auth(username, secret)).code).toBe(235)
    const send = async (subject: string) => {
      const text = message('app@story.test', email, subject)
      expect((await client.send({ from: 'app@story.test', to: email, text })).code).toBe(250)
    }
    await send('a story')
    const delivered = await host.arrived(email, 'a story')
    expect(delivered).toContain('Hello.')
    expect(await mailIn(host.ports.imaps, email, PASSWORD)).toHaveLength(1)

    const outside = message('app@story.test', 'friend@outside.test', 'to a friend')
    const signed = await waitFor(async () => {
      await client.send({ from: 'app@story.test', to: 'friend@outside.test', text: outside })
      const [mail] = host.sink.to('friend@outside.test').slice(-1)
      return mail && signatureOf(mail.data) && mail.data
    })
    expect(verifies(signed, record.record_value)).toBe(true)
    client.quit()

    // The delivery is reported by a signed webhook event.
    const delivery = await waitFor(() =>
      sink.got.find(
        ({ json }) => json?.event === 'email.delivered' && json.data.recipient === email,
      ),
    )
    expect(delivery.json).toMatchObject({
      org_id: acme.organizationId,
      domain: 'story.test',
      data: { sender: 'app@story.test', subject: 'a story', status: 'delivered' },
    })
    const usage = await waitFor(async () => {
      const { body } = await acme.get(`/api/v1/smtp-credentials/${id}/usage`)
      return body.data.total > 0 && body.data
    })
    expect(usage.total).toBeGreaterThanOrEqual(1)
    const rate = await acme.get('/api/v1/rate-limiter/rate-limits/domain/story.test')
    expect(rate.body.data.usage.hourly_count).toBeGreaterThanOrEqual(1)

    const revoked = await acme.post(`/api/v1/smtp-credentials/${id}/revoke`, {})
    expect(revoked.body.data).toMatchObject({ cache_flushed: true })
    expect(await host.authCode(username, secret)).toBe(535)
  })
})
