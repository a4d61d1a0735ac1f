import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, startApp } from '../../test/support/app.ts'
import { ALICE, logins } from '../../test/support/auth-policy.ts'
import { redisMissing, startRedis } from '../../test/support/redis.ts'
import { waitFor } from '../../test/support/wait.ts'

const missing = redisMissing()
const LIMITS = {
  AUTH_DELAY_SECS: '1',
  MAX_AUTH_FAILURES_PER_USER: '5',
  MAX_AUTH_FAILURES_PER_IP: '50',
}

describe.skipIf(missing)(
  `two auth policies that share Redis${missing ? `: ${missing}` : ''}`,
  () => {
    let redis: Awaited<ReturnType<typeof startRedis>>
    let apps: [App, App]
    beforeAll(async () => {
      redis = await startRedis()
      const env = { ...LIMITS, REDIS_URL: redis.url }
      const one = await startApp({ limiting: true, env })
      apps = [one, await startApp({ limiting: true, env, database: one.database })]
      await one.tenant('acme')
      await waitFor(async () => {
        const [, listeners] = await redis.ask((client) =>
          client.pubsub('NUMSUB', 'mailplane:logins'),
        )
        return listeners === 2
      })
    })
    afterAll(async () => {
      for (const app of apps.toReversed()) await app.stop()
      await redis.stop()
    })
    const at = (index: 0 | 1, ip: string) =>
      logins(
        () => apps[index],
        () => ip,
      )

    it('block an account after the failures of both together, once', async () => {
      const ip = newIp()
      const [one, other] = [at(0, ip), at(1, ip)]
      for (const [failing, hearing, delay] of [
        [one, other, 1],
        [other, one, 2],
        [one, other, 4],
        [other, one, 5],
      ] as const) {
        await failing.fail(1)
        await expect.poll(() => hearing.allow()).toMatchObject({ status: delay })
      }
      await one.fail(1)
      expect(await one.allow()).toMatchObject({ status: -1 })
      await one.rows()
      await expect.poll(() => other.allow()).toMatchObject({ status: -1 })
      await other.rows()
      const reported = (await one.events()).filter(({ event }) => event === 'security.brute_force')
      expect(reported).toHaveLength(1)
    })

    it('know from each other who has logged in, and do not delay them', async () => {
      const ip = newIp()
      const [one, other] = [at(0, ip), at(1, ip)]
      await one.fail(1, 'somebody@acme.test')
      await expect.poll(() => other.allow()).toMatchObject({ status: 1 })
      await one.report(true)
      await expect.poll(() => other.allow()).toMatchObject({ status: 0 })
    })

    it('ignore messages of a wrong form', async () => {
      const ip = newIp()
      const [one, other] = [at(0, ip), at(1, ip)]
      for (const content of ['{', 'null', '[]', '{"ip":1,"user":"x","outcome":"failure"}']) {
        await redis.publish('mailplane:logins', content)
      }
      await one.fail(1)
      await expect.poll(() => other.allow()).toMatchObject({ status: 1 })
    })

    it('count for themselves while Redis is away, and together afterwards', async () => {
      const ip = newIp()
      const [one, other] = [at(0, ip), at(1, ip)]
      await redis.kill()
      await one.fail(2)
      expect(await one.allow()).toMatchObject({ status: 2 })
      expect(await other.allow(ALICE)).toMatchObject({ status: 0 })
      await redis.start()
      const again = newIp()
      await expect
        .poll(async () => {
          await at(0, again).fail(1, 'nobody@acme.test')
          return (await at(1, again).allow()).status
        })
        .not.toBe(0)
    })
  },
)
