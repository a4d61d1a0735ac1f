import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAILBOX, startWithSieve } from '../../../../test/support/holders.ts'

const PATH = `${MAILBOX}/forwarding`
const OFF = { enabled: false, addresses: [], keep_copy: true }

let world: Awaited<ReturnType<typeof startWithSieve>>
beforeAll(async () => {
  world = await startWithSieve()
})
afterAll(() => world.stop())

describe('mailbox forwarding', () => {
  it.each([
    ['nothing', { enabled: true }],
    [
      'no valid address',
      { enabled: true, addresses: ['', 'jane', 'a@b', '"x y"@b.test', 'a@b.test, c@d.test'] },
    ],
    ['only itself', { enabled: true, addresses: ['ADMIN@refused.test', ' admin@refused.test '] }],
  ])('is rejected with %s to forward to', async (_what, body) => {
    const jane = await world.holder('refused')
    expect(await jane.put(PATH, body)).toMatchObject({
      status: 422,
      body: {
        type: 'error',
        msg: expect.stringMatching(/Add an address to forward to, or turn forwarding off/),
      },
    })
    expect(jane.scripts.scripts.size).toBe(0)
  })

  it('is rejected with more than five addresses, also while it is off', async () => {
    const jane = await world.holder('many')
    const addresses = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}@x.test`)
    for (const enabled of [true, false]) {
      expect(await jane.put(PATH, { enabled, addresses })).toMatchObject({
        status: 422,
        body: { msg: 'You can forward to at most 5 addresses' },
      })
    }
    const five = [...addresses.slice(1), 'B@x.test', 'not one', jane.email]
    expect((await jane.put(PATH, { enabled: true, addresses: five })).status).toBe(200)
  })

  it.each([
    { enabled: 'yes' },
    { addresses: 'a@b.test' },
    { addresses: [7] },
    { keep_copy: null },
    { addresses: [`${'x'.repeat(400)}@b.test`] },
  ])('is rejected when it is malformed: %j', async (body) => {
    const jane = await world.holder('malformed')
    expect(await jane.put(PATH, body)).toMatchObject({ status: 422, body: { detail: [{}] } })
  })

  it('is off before the first save', async () => {
    const jane = await world.holder('never')
    expect(await jane.get(PATH)).toMatchObject({
      status: 200,
      body: {
        msg: 'Forwarding retrieved successfully',
        data: { ...OFF, managed: true, loses_signatures: false },
      },
    })
  })

  it('says that forwarded mail loses its signature where links of incoming mail are rewritten', async () => {
    const jane = await world.holder('protected')
    await world.app.core.db
      .insertInto('url_protection_settings')
      .values({ organization_id: jane.tenant.organizationId, enabled: true })
      .execute()
    const saved = await jane.put(PATH, { enabled: true, addresses: ['b@x.test'] })
    expect(saved.body.data).toMatchObject({ enabled: true, loses_signatures: true })
    expect((await jane.get(PATH)).body.data.loses_signatures).toBe(true)
  })

  it('stores normalized addresses and keeps them while it is off', async () => {
    const jane = await world.holder('saved')
    const addresses = [
      '  Joe@Elsewhere.test',
      'joe@elsewhere.test',
      'nobody',
      jane.email.toUpperCase(),
      'b@x.test',
    ]
    const clean = {
      enabled: true,
      addresses: ['Joe@Elsewhere.test', 'b@x.test'],
      keep_copy: true,
      managed: true,
      loses_signatures: false,
    }
    const saved = await jane.put(PATH, { enabled: true, addresses })
    expect(saved).toMatchObject({ status: 200, body: { msg: 'Forwarding saved', data: clean } })
    expect((await jane.get(PATH)).body.data).toEqual(clean)
    await jane.put(PATH, { addresses, keep_copy: false })
    const off = { ...clean, enabled: false, keep_copy: false }
    expect((await jane.get(PATH)).body.data).toEqual(off)
    expect(jane.scripts.scripts.get('svc-forwarding')).not.toMatch(/^[a-z]/m)
  })

  it('is written as one redirect per address, with :copy when keep_copy is set', async () => {
    const jane = await world.holder('written')
    const body = { enabled: true, addresses: ["o'neil+x@a.test", 'b@x.test'] }
    await jane.put(PATH, body)
    const script = () => jane.scripts.scripts.get('svc-forwarding')?.split('\r\n')
    expect(script()).toEqual([
      `# svc-forwarding: {"enabled":true,"addresses":["o'neil+x@a.test","b@x.test"],"keep_copy":true}`,
      'require ["copy"];',
      `redirect :copy "o'neil+x@a.test";`,
      'redirect :copy "b@x.test";',
      '',
    ])
    await jane.put(PATH, { ...body, keep_copy: false })
    expect(script()?.slice(1)).toEqual([`redirect "o'neil+x@a.test";`, 'redirect "b@x.test";', ''])
  })
})
