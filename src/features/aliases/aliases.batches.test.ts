import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aliases } from '../../../test/support/aliases.ts'
import { type App, startApp } from '../../../test/support/app.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const { add, created, eventsAbout, fresh, stored } = aliases(
  () => app,
  () => acme,
)

const edit = (items: unknown[], attr: object, client: Pick<typeof acme, 'post'> = acme) =>
  client.post('/api/v1/aliases/edit', { items, attr })
const remove = (items: unknown[], client: Pick<typeof acme, 'post'> = acme) =>
  client.post('/api/v1/aliases/delete', items)

describe('editing aliases', () => {
  it.each([[{ items: 'x', attr: {} }], [{ items: [] }], [{ items: [], attr: [] }], [{ attr: {} }]])(
    'rejects the body %j',
    async (body) => {
      expect(await acme.post('/api/v1/aliases/edit', body)).toMatchObject({
        status: 400,
        body: { msg: 'Invalid request format' },
      })
    },
  )

  it('returns the outcome of each item', async () => {
    const one = await created()
    const two = await created()
    const foreign = (
      await add({ source: fresh('globex.test'), destination: 'b@x.example' }, globex)
    ).body.data
    const items = [one.id, 'nobody@acme.test', foreign.alias_id, two.source.toUpperCase()]
    const answer = await edit(items, { destination: 'New@x.example', active: false })
    expect(answer).toMatchObject({ status: 200, body: { msg: 'Alias update completed' } })
    expect(answer.body.data).toEqual([
      { alias: one.id, status: 'success', msg: `Alias ${one.id} updated successfully` },
      { alias: items[1], status: 'error', msg: 'Alias nobody@acme.test not found' },
      { alias: items[2], status: 'error', msg: `Alias ${foreign.alias_id} not found` },
      { alias: items[3], status: 'success', msg: `Alias ${items[3]} updated successfully` },
    ])
    expect(await stored(two.source)).toMatchObject({
      destination: 'New@x.example',
      destinations: ['new@x.example'],
      active: false,
    })
    expect(await stored(foreign.source)).toMatchObject({ destination: 'b@x.example', active: true })
    expect((await eventsAbout(two.id)).at(-1)).toMatchObject({
      event: 'alias.updated',
      org_id: acme.organizationId,
      data: { source: two.source, updated_fields: ['destination', 'active'] },
    })
  })

  it('refuses attributes that cannot be changed, by name and for each item', async () => {
    const one = await created()
    const answer = await edit([one.id, 'nobody@acme.test'], {
      source: 'a@acme.test',
      domain_id: 'x',
    })
    expect(answer.body.data).toEqual([
      {
        alias: one.id,
        status: 'error',
        msg: 'Nothing was changed: source, domain_id cannot be changed here',
      },
      { alias: 'nobody@acme.test', status: 'error', msg: 'Alias nobody@acme.test not found' },
    ])
    expect((await edit([one.id], { source: 'a@acme.test', active: 0 })).body.data).toMatchObject([
      { status: 'success' },
    ])
    expect(await stored(one.source)).toMatchObject({ active: false })
  })

  it('returns an empty list when no attribute is sent', async () => {
    const { id } = await created()
    expect((await edit([id], { comment: 'x' })).body.data).toEqual([])
    expect(await eventsAbout(id)).toHaveLength(1)
  })

  it('applies every rule of adding an alias', async () => {
    const { id, source } = await created()
    for (const [attr, msg] of [
      [{ destination: 'x' }, 'Invalid email format: x'],
      [{ destination: '' }, 'Email list cannot be empty'],
      [{ destination: null }, 'destination must be a comma-separated string'],
      [{ active: 'no' }, 'active must be 1 or 0'],
      [{ destination: source }, `This would create a forwarding loop: ${source} -> ${source}`],
    ] as const) {
      expect((await edit([id], attr)).body.data).toEqual([{ alias: id, status: 'error', msg }])
    }
    expect(await stored(source)).toMatchObject({ destination: 'someone@elsewhere.example' })
    expect(await eventsAbout(id)).toHaveLength(1)
  })

  it('deactivates an alias of an inactive domain but does not activate it', async () => {
    const other = await app.tenant('closing')
    const source = fresh('closing.test')
    await add({ source, destination: 'b@x.example' }, other)
    await app.core.db
      .updateTable('domains')
      .set({ active: false })
      .where('id', '=', other.domainId)
      .execute()
    expect((await edit([source], { active: 0 }, other)).body.data[0].status).toBe('success')
    expect((await edit([source], { active: 1 }, other)).body.data[0]).toMatchObject({
      status: 'error',
      msg: 'Domain closing.test not found or inactive',
    })
  })

  it('returns one outcome for each item of any JSON type', async () => {
    const items = [{ toString: 1 }, null, 7, [], 'x'.repeat(5000), "'; drop table aliases; --"]
    const answer = await edit(items, { active: 1 })
    expect(answer.status).toBe(200)
    expect(answer.body.data).toHaveLength(items.length)
    expect(answer.body.data[0]).toMatchObject({ alias: '{"toString":1}', status: 'error' })
    expect((await remove(items)).body.data).toHaveLength(items.length)
  })
})

describe('deleting aliases', () => {
  it('rejects a body that is no list and a list of more than 1000 aliases', async () => {
    expect(await acme.post('/api/v1/aliases/delete', { items: ['x'] })).toMatchObject({
      status: 400,
      body: { msg: 'Invalid request format - array of alias IDs expected' },
    })
    expect((await remove(Array.from({ length: 1001 }, () => 'x'))).status).toBe(422)
  })

  it('deletes aliases by id and by source and frees their addresses', async () => {
    const one = await created()
    const two = await created()
    const answer = await remove([one.id, two.source, two.source])
    expect(answer).toMatchObject({ status: 200, body: { msg: 'Alias deletion completed' } })
    expect(answer.body.data).toEqual([
      {
        alias: one.id,
        source: one.source,
        status: 'success',
        msg: `Alias ${one.source} deleted successfully`,
      },
      {
        alias: two.source,
        source: two.source,
        status: 'success',
        msg: `Alias ${two.source} deleted successfully`,
      },
      { alias: two.source, status: 'error', msg: `Alias ${two.source} not found` },
    ])
    expect((await eventsAbout(two.id)).at(-1)).toMatchObject({
      event: 'alias.deleted',
      data: { source: two.source },
    })
    await created('b@x.example', one.source)
  })

  it("reports another organization's alias as not found and keeps it", async () => {
    const { id, source } = await created()
    const answer = await remove([id, source], globex)
    expect(answer.body.data).toMatchObject([{ status: 'error' }, { status: 'error' }])
    expect(await stored(source)).toBeDefined()
  })
})

describe('adding aliases in bulk', () => {
  const bulk = (aliases: unknown, more?: { headers: Record<string, string> }) =>
    acme.post('/api/v1/aliases/add/bulk', { aliases }, more)

  it('rejects a body that is no list and a list of more than 1000 entries', async () => {
    for (const aliases of ['x', {}, null, 7]) {
      expect(await bulk(aliases)).toMatchObject({
        status: 400,
        body: { msg: 'Invalid request format - aliases array expected' },
      })
    }
    const many = Array.from({ length: 1001 }, (_, i) => ({
      source: `bulk${i}@acme.test`,
      destination: 'b@x.example',
    }))
    expect((await bulk(many)).status).toBe(422)
    expect(await stored('bulk0@acme.test')).toBeUndefined()
  })

  it('validates every entry separately', async () => {
    const [one, two] = [fresh(), fresh()]
    const answer = await bulk([
      { source: one.toUpperCase(), destination: 'b@x.example' },
      { source: one, destination: 'b@x.example' },
      'text',
      null,
      { source: 'x@globex.test', destination: 'b@x.example' },
      { source: acme.email, destination: 'b@x.example' },
      { source: two, destination: two },
      { source: two, destination: 'b@x.example' },
    ])
    expect(answer).toMatchObject({ status: 200, body: { msg: 'Bulk alias creation completed' } })
    expect(answer.body.data).toEqual({
      summary: { total: 8, success: 2, errors: 6 },
      results: [
        { source: one, status: 'success', msg: 'Alias created successfully' },
        { source: one, status: 'error', msg: 'Alias already exists' },
        { source: '', status: 'error', msg: 'Missing required field: source' },
        { source: '', status: 'error', msg: 'Missing required field: source' },
        {
          source: 'x@globex.test',
          status: 'error',
          msg: 'Domain globex.test not found or inactive',
        },
        {
          source: acme.email,
          status: 'error',
          msg: `Address ${acme.email} is already used by a mailbox`,
        },
        {
          source: two,
          status: 'error',
          msg: `This would create a forwarding loop: ${two} -> ${two}`,
        },
        { source: two, status: 'success', msg: 'Alias created successfully' },
      ],
    })
    const row = await stored(two)
    expect(await eventsAbout(row?.id ?? '')).toMatchObject([{ event: 'alias.created' }])
  })

  it('creates the aliases once for two requests with one Idempotency-Key', async () => {
    const aliases = [fresh(), fresh(), fresh()].map((source) => ({
      source,
      destination: 'b@x.example',
    }))
    const headers = { 'idempotency-key': 'bulk' }
    const first = await bulk(aliases, { headers })
    const again = await bulk(aliases, { headers })
    expect(first.body.data.summary).toEqual({ total: 3, success: 3, errors: 0 })
    expect(again.text).toBe(first.text)
  })

  it('can be sent again with its Idempotency-Key after an interruption', async () => {
    const aliases = [fresh(), fresh(), fresh()].map((source) => ({
      source,
      destination: 'b@x.example',
    }))
    const headers = { 'idempotency-key': 'broken-off' }
    await sql`
      create function fail() returns trigger language plpgsql as
      $$ begin raise exception 'the disk is full'; end $$`.execute(app.core.db)
    await sql`
      create trigger fail before insert on aliases for each row
      when (new.source = ${sql.lit(aliases[1]?.source)}) execute function fail()`.execute(
      app.core.db,
    )
    expect((await bulk(aliases, { headers })).status).toBe(500)
    await sql`drop trigger fail on aliases`.execute(app.core.db)
    const again = await bulk(aliases, { headers })
    expect(again.body.data.summary).toEqual({ total: 3, success: 2, errors: 1 })
    expect(again.body.data.results[0].msg).toBe('Alias already exists')
  })
})
