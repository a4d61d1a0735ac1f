import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signatureOf, verifies } from '../support/dkim-verifier.ts'
import { edgeMissing, type MailHost, startMailHost } from '../support/edge.ts'
import { redisMissing, startRedis } from '../support/redis.ts'
import { message } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const missing = edgeMissing ?? redisMissing()

describe.skipIf(missing)(
  `signing with keys from Redis${missing ? ` (skipped: ${missing})` : ''}`,
  () => {
    let redis: Awaited<ReturnType<typeof startRedis>>
    let host: MailHost
    beforeAll(async () => {
      redis = await startRedis()
      host = await startMailHost({ env: { REDIS_URL: redis.url } })
    })
    afterAll(async () => {
      await host?.stop()
      await redis?.stop()
    })

    it('is verifiable, uses a rotated key for the next message, and ends with the domain', async () => {
      const acme = await host.app.tenant('acme')
      const owner = await host.app.operator('owner')
      const shop = await host.app.hostedDomain(acme, { domain: 'shop.test' })
      const dkim = `/api/v1/domains/${shop.id}/dkim`
      const made = await acme.post('/api/v1/smtp-credentials/', { domain_id: shop.id })
      let count = 0
      const sent = async () => {
        const to = `reader-${++count}@outside.test`
        const client = await host.submission()
        await client.auth(made.body.data.username, made.body.data.secret)
        const text = message('app@shop.test', to, `signed ${count}`)
        expect((await client.send({ from: 'app@shop.test', to, text })).code).toBe(250)
        client.quit()
        return (await waitFor(() => host.sink.to(to)[0])).data
      }
      const first = await waitFor(async () => {
        const data = await sent()
        return signatureOf(data) && data
      })
      const listed = await owner.get(dkim)
      expect(verifies(first, listed.body.data.items[0].record_value)).toBe(true)

      const rotated = (await owner.post(`${dkim}/rotate`, { reason: 'test' })).body.data
      expect(rotated).toMatchObject({ rspamd_synced: true })
      expect(signatureOf(await sent())?.selector).toBe('default')
      const answer = await owner.post(`${dkim}/${rotated.selector}/activate`, {
        reason: 'test',
        force: true,
      })
      expect(answer.body.data).toMatchObject({ rspamd_synced: true })
      const second = await sent()
      expect(signatureOf(second)?.selector).toBe(rotated.selector)
      expect(verifies(second, rotated.record_value)).toBe(true)

      await acme.delete(`/api/v1/domains/${shop.id}`)
      await waitFor(async () => (await host.app.core.signingKeys.domains()).length === 0)
    })
  },
)
