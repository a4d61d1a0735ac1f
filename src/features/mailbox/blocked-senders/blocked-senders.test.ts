import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAILBOX, startWithSieve } from '../../../../test/support/holders.ts'
import { blockedSenders } from '../../../sieve/blocked-senders.ts'

const PATH = `${MAILBOX}/blocked-senders`
const listed = (addresses: string[], managed = true) => ({
  addresses,
  managed,
  folder: 'Junk',
  limit: 500,
})

let world: Awaited<ReturnType<typeof startWithSieve>>
beforeAll(async () => {
  world = await startWithSieve()
})
afterAll(() => world.stop())

const BAD = [
  'nobody',
  'a@b',
  '.a@b.test',
  'a.@b.test',
  'a..b@c.test',
  '"quoted"@b.test',
  'a b@c.test',
  'a@-b.test',
  'a@b-.test',
  `a@${'b'.repeat(64)}.test`,
  'a@b.test\nc@d.test',
  `${'a'.repeat(250)}@b.test`,
  'ü@b.test',
  '<<a@b.test>>',
]

describe('the blocked senders of a mailbox', () => {
  it.each(BAD)('reject %j with 422', async (address) => {
    const jane = await world.holder('bad')
    expect(await jane.post(PATH, { address })).toMatchObject({
      status: 422,
      body: { type: 'error', msg: 'Enter a valid email address to block' },
    })
    expect(await jane.delete(`${PATH}/${encodeURIComponent(address)}`)).toMatchObject({
      status: 422,
      body: { msg: 'That is not a valid email address' },
    })
    expect(jane.scripts.scripts.size).toBe(0)
  })

  it('reject the address of the mailbox itself', async () => {
    const jane = await world.holder('own')
    expect(await jane.post(PATH, { address: ' <ADMIN@own.test> ' })).toMatchObject({
      status: 422,
      body: { msg: 'A mailbox cannot block its own address' },
    })
  })

  it.each([{}, { address: 'ab' }, { address: 'x'.repeat(321) }, { address: null }])(
    'reject a malformed body with 422: case %#',
    async (body) => {
      const jane = await world.holder('malformed')
      expect(await jane.post(PATH, body)).toMatchObject({ status: 422, body: { detail: [{}] } })
    },
  )

  it('are limited to 500 entries; blocking an existing entry again is accepted', async () => {
    const jane = await world.holder('full')
    const full = Array.from({ length: 500 }, (_, n) => `noise${n}@x.test`)
    jane.scripts.scripts.set('svc-blocked-senders', blockedSenders.write(full))
    expect(await jane.post(PATH, { address: 'more@x.test' })).toMatchObject({
      status: 422,
      body: { msg: 'You can block at most 500 senders' },
    })
    expect((await jane.post(PATH, { address: 'noise7@x.test' })).status).toBe(200)
  })

  it('are added in order and removed; a request without effect writes no script', async () => {
    const jane = await world.holder('list')
    expect(await jane.get(PATH)).toMatchObject({
      body: { msg: 'Blocked senders retrieved successfully', data: listed([]) },
    })
    expect(await jane.delete(`${PATH}/b%40x.test`)).toMatchObject({
      status: 200,
      body: { msg: 'Sender was not blocked', data: listed([]) },
    })
    expect(jane.scripts.scripts.size).toBe(0)
    expect(await jane.post(PATH, { address: '<B@X.test>' })).toMatchObject({
      status: 200,
      body: { msg: 'Sender blocked', data: listed(['b@x.test']) },
    })
    await jane.post(PATH, { address: 'a@x.test' })
    const before = world.sieve.commands.filter((one) => one.startsWith('PUTSCRIPT')).length
    expect(await jane.post(PATH, { address: 'b@x.TEST' })).toMatchObject({
      status: 200,
      body: { msg: 'Sender is already blocked', data: listed(['b@x.test', 'a@x.test']) },
    })
    expect(world.sieve.commands.filter((one) => one.startsWith('PUTSCRIPT'))).toHaveLength(before)
    expect(await jane.delete(`${PATH}/${encodeURIComponent('B@x.test')}`)).toMatchObject({
      status: 200,
      body: { msg: 'Sender unblocked', data: listed(['a@x.test']) },
    })
    await jane.delete(`${PATH}/a@x.test`)
    expect(jane.scripts.scripts.get('svc-blocked-senders')).not.toMatch(/^[a-z]/m)
  })

  it('keep all entries of concurrent additions', async () => {
    const jane = await world.holder('busy')
    world.sieve.delayMs = 3
    const addresses = Array.from({ length: 12 }, (_, n) => `noise${n}@x.test`)
    await Promise.all(addresses.map((address) => jane.post(PATH, { address })))
    world.sieve.delayMs = 0
    expect((await jane.get(PATH)).body.data.addresses.sort()).toEqual(addresses.sort())
  })

  it('report a foreign script as not managed and replace it on the first change', async () => {
    const jane = await world.holder('foreign')
    jane.scripts.scripts.set('svc-blocked-senders', 'require ["fileinto"];\nkeep;\n')
    expect((await jane.get(PATH)).body.data).toEqual(listed([], false))
    expect((await jane.delete(`${PATH}/a@x.test`)).body.data).toEqual(listed([], false))
    expect((await jane.post(PATH, { address: 'a@x.test' })).body.data).toEqual(listed(['a@x.test']))
  })
})
