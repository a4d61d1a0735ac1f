import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAILBOX, startWithSieve } from '../../../../test/support/holders.ts'

const PATH = `${MAILBOX}/vacation`
const OFF = { enabled: false, subject: null, message: null, start_date: null, end_date: null }

let world: Awaited<ReturnType<typeof startWithSieve>>
beforeAll(async () => {
  world = await startWithSieve()
})
afterAll(() => world.stop())

describe('the vacation responder', () => {
  it.each([
    { enabled: true },
    { enabled: true, message: ' \r\n\t ' },
    { enabled: true, message: null },
  ])('is rejected without a message: %j', async (body) => {
    const jane = await world.holder('silent')
    expect(await jane.put(PATH, body)).toMatchObject({
      status: 422,
      body: { type: 'error', msg: 'Write a message, or turn the vacation responder off' },
    })
  })

  it.each([
    { subject: 'x'.repeat(501) },
    { message: 'x'.repeat(20_001) },
    { start_date: 'x'.repeat(41) },
    { enabled: 1 },
  ])('is rejected when a field is too long or malformed: case %#', async (body) => {
    const jane = await world.holder('long')
    expect(await jane.put(PATH, body)).toMatchObject({ status: 422, body: { detail: [{}] } })
  })

  it('is off before the first save', async () => {
    const jane = await world.holder('never')
    expect(await jane.get(PATH)).toMatchObject({
      status: 200,
      body: { msg: 'Vacation retrieved successfully', data: { ...OFF, managed: true } },
    })
  })

  it('stores any text trimmed, and an empty field as null', async () => {
    const jane = await world.holder('saved')
    const message =
      'Gone "fishing" \\o/\r\n\r\n# svc-vacation: {}\r\nBack \u0085\u2028\u2029 soon 🐟'
    const sent = {
      enabled: true,
      subject: '  Away ',
      message: ` ${message}\n`,
      start_date: '2026-12-24',
      end_date: '',
    }
    const data = {
      enabled: true,
      subject: 'Away',
      message,
      start_date: '2026-12-24',
      end_date: null,
      managed: true,
    }
    const saved = await jane.put(PATH, sent)
    expect(saved).toMatchObject({ status: 200, body: { msg: 'Vacation responder saved', data } })
    expect((await jane.get(PATH)).body.data).toEqual(data)
    await jane.put(PATH, {})
    expect((await jane.get(PATH)).body.data).toEqual({ ...OFF, managed: true })
    expect(jane.scripts.scripts.get('svc-vacation')).not.toMatch(/^[a-z]/m)
  })

  it('replies once a day for its own address, with a subject only if one is set', async () => {
    const jane = await world.holder('written')
    await jane.put(PATH, { enabled: true, message: 'one\ntwo "three"' })
    const script = () => jane.scripts.scripts.get('svc-vacation')?.replace(/^# .*\r\n/, '')
    expect(script()).toBe(
      'require ["vacation"];\r\nvacation :days 1 :addresses "admin@written.test" "one\r\ntwo \\"three\\"";\r\n',
    )
    await jane.put(PATH, { enabled: true, message: 'x', subject: 'a\r\nBcc: b' })
    expect(script()).toContain(':subject "a Bcc: b" "x";')
  })
})
