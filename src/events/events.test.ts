import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { defineEvent, eventCatalogue } from './events.ts'

const declaration = {
  source: 'api',
  summary: 'Something was tested',
  data: Type.Object({ thing_id: Type.String() }),
}
const Tested = defineEvent('test.happened', declaration)

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const stored = () =>
  app.core.db
    .selectFrom('events')
    .selectAll()
    .where('source', '=', 'api')
    .orderBy('sequence')
    .execute()
const emit = (type: typeof Tested, thing_id: string, fails = false) =>
  app.core.db.transaction().execute(async (tx) => {
    await app.core.events.emit(tx, type, { org_id: 'acme', domain: 'acme.test' }, { thing_id })
    if (fails) throw new Error('the change failed')
  })

describe('an event', () => {
  it('cannot be defined twice', () => {
    expect(() => defineEvent('test.happened', declaration)).toThrow(
      'event test.happened is defined twice',
    )
    expect(eventCatalogue().filter(({ name }) => name === 'test.happened')).toHaveLength(1)
    const names = eventCatalogue().map(({ name }) => name)
    expect([...names].sort((one, other) => one.localeCompare(other))).toEqual(names)
    expect(names).toContain('org.created')
  })

  it('that is not defined cannot be emitted, and the change is rolled back', async () => {
    await expect(emit({ ...Tested, name: 'test.unknown' }, '1')).rejects.toThrow(
      'event test.unknown is not defined',
    )
    expect(await stored()).toEqual([])
  })

  it('is not stored when the change that caused it is rolled back', async () => {
    await expect(emit(Tested, '1', true)).rejects.toThrow('the change failed')
    expect(await stored()).toEqual([])
  })

  it('is stored with the change, in order, with its organization and domain', async () => {
    await emit(Tested, '1')
    await emit(Tested, '2')
    const rows = await stored()
    expect(rows).toMatchObject([
      {
        event: 'test.happened',
        source: 'api',
        org_id: 'acme',
        domain: 'acme.test',
        data: { thing_id: '1' },
        tags: [],
        user_variables: {},
      },
      { data: { thing_id: '2' } },
    ])
    expect(rows[0]?.id).toMatch(/^[0-9A-Z]{26}$/)
    expect(rows[0]?.id).not.toBe(rows[1]?.id)
    expect(rows[0]?.created_at).toMatch(/^\d{4}-.*\.\d{3}Z$/)
  })
})
