import { describe, expect, it } from 'vitest'
import { startApp } from '../../../test/support/app.ts'

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
