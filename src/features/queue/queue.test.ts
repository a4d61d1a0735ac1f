import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startApp } from '../../../test/support/app.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { queueService } from './queue.service.ts'

const PATH = '/api/v1/queue'

describe('the queue without a Postfix', () => {
  it.each([undefined, '/nowhere/at/all'])('is unavailable with the folder %s', async (folder) => {
    const app = await startApp({ env: folder ? { POSTFIX_CONFIG_DIR: folder } : {} })
    try {
      const operator = await app.operator('operator')
      for (const path of ['/queue/status', '/health', '/jobs/far.test']) {
        expect(await operator.get(PATH + path)).toMatchObject({
          status: 503,
          body: { error: 'Queue service unavailable' },
        })
      }
      expect((await operator.post(`${PATH}/mail-queue/flush`, {})).status).toBe(503)
    } finally {
      await app.stop()
    }
  })
})

describe('lists of waiting mail of tenants', () => {
  it('read the queue once at a time for each organization, and a few times in all', async () => {
    const app = await startApp()
    try {
      const tenants = await Promise.all(
        ['acme', 'globex', 'initech'].map((name) => app.tenant(name)),
      )
      const [acme = '', ...others] = tenants.map(({ organizationId }) => organizationId)
      const first = Promise.withResolvers<undefined>()
      let walks = 0
      let running = 0
      let most = 0
      const walk = async () => {
        most = Math.max(most, ++running)
        await (++walks === 1 ? first.promise : setImmediate())
        running--
        return undefined
      }
      const mailQueue = { ...app.core.mailQueue, isConfigured: true, walk }
      const queue = queueService({ ...app.core, mailQueue })
      const list = (organization: string) => queue.own({ scope: { organization } })
      const many = Array.from({ length: 20 }, () => list(acme))
      await waitFor(() => running === 1)
      // The others do not wait for the one that asks twenty times.
      for (const organization of others) await list(organization)
      expect(walks).toBe(1 + others.length)
      first.resolve(undefined)
      expect(await Promise.all(many)).toHaveLength(20)
      expect(walks).toBe(20 + others.length)
      expect(most).toBe(2)
    } finally {
      await app.stop()
    }
  })
})
