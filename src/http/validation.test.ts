import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Probe, startProbe } from '../../test/support/probe.ts'

let app: Probe
beforeAll(async () => {
  app = await startProbe()
})
afterAll(() => app.stop())

const post = (body: unknown, path = '/api/v1/probe/') => app.send('POST', path, { body })
const postRaw = (raw: string | Buffer, path = '/api/v1/probe/', type = 'application/json') =>
  app.send('POST', path, { raw, headers: { 'content-type': type } })
const list = (query: string) => app.send('GET', `/api/v1/probe/?${query}`)

describe('a typed body', () => {
  it.each([
    ['a number for text', { name: 7 }, 'name', 'Must be a string', 'string_type'],
    ['true for text', { name: true }, 'name', 'Must be a string', 'string_type'],
    [
      'digits for a number',
      { name: 'x', size: '7' },
      'size',
      'Must be a whole number',
      'integer_type',
    ],
    ['a fraction', { name: 'x', size: 1.5 }, 'size', 'Must be a whole number', 'integer_type'],
    ['null where none is allowed', { name: null }, 'name', 'Must be a string', 'string_type'],
    ['nothing', { size: 1 }, 'name', 'Is required', 'missing'],
    ['too little', { name: '' }, 'name', 'Must not be empty', 'string_too_short'],
    [
      'another word',
      { name: 'x', color: 'green' },
      'color',
      'Must be one of red, blue, null',
      'enum',
    ],
  ])('rejects %s with its location', async (_what, body, field, msg, type) => {
    const answer = await post(body)
    expect(answer.status).toBe(422)
    expect(answer.body.detail).toEqual([{ loc: ['body', field], msg, type }])
    // Not the name that the framework has for it (B7.1).
    expect(answer.body.error_code).toBe('VALIDATION_FAILED')
  })

  it('reports few problems of a body with very many (S9)', async () => {
    const wrong = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`n${i}`, i]))
    for (const body of [
      { ...wrong, name: 7, size: 'x' },
      { name: 7, size: 'x', color: 1 },
    ]) {
      const answer = await post(body)
      expect(answer.status).toBe(422)
      expect(answer.body.detail.length).toBeGreaterThan(0)
      expect(answer.body.detail.length).toBeLessThanOrEqual(20)
      expect(answer.text.length).toBeLessThan(10_000)
    }
  })

  it('is rejected with more values than can be parsed quickly', async () => {
    for (const raw of [`[${'0,'.repeat(100_001)}0]`, `[${'{},'.repeat(30_001)}0]`]) {
      const answer = await postRaw(raw)
      expect(answer).toMatchObject({
        status: 422,
        body: { detail: [{ msg: expect.stringMatching(/^Body has more than 100000 values/) }] },
      })
    }
    expect((await postRaw(`{"name":"${',:[{'.repeat(5000)}"}`)).status).toBe(201)
  })

  it('treats a missing body as empty and reports the missing fields', async () => {
    const answer = await postRaw('')
    expect(answer.status).toBe(422)
    expect(answer.body.detail).toContainEqual({
      loc: ['body', 'name'],
      msg: 'Is required',
      type: 'missing',
    })
  })

  it.each([['[]'], ['"text"'], ['null'], ['7']])(
    'rejects %j in place of an object',
    async (raw) => {
      const answer = await postRaw(raw)
      expect(answer.status).toBe(422)
      expect(answer.body.detail).toEqual([
        { loc: ['body'], msg: 'Must be an object', type: 'object_type' },
      ])
    },
  )

  it('reports all problems at once', async () => {
    const { body } = await post({ size: 'x', note: 7 })
    expect(body.detail.map(({ loc }: { loc: string[] }) => loc[1]).sort()).toEqual([
      'name',
      'note',
      'size',
    ])
  })

  it('drops undeclared fields and fills in defaults', async () => {
    const answer = await post({ name: 'x', admin: true, note: null, color: null })
    expect(answer.body.data).toEqual({ name: 'x', size: 1, note: null, color: null })
  })

  it('accepts a charset and keeps its text unchanged', async () => {
    const name = ' ünïcödé 🦄 <b>&"\\u0041 '
    const answer = await postRaw(
      JSON.stringify({ name }),
      undefined,
      'application/json; charset=utf-8',
    )
    expect(answer).toMatchObject({ status: 201, body: { data: { name } } })
  })
})

describe('a body that is not acceptable JSON', () => {
  const deep = (open: string, close: string, levels: number) =>
    `{"name":"x","extra":${open.repeat(levels)}1${close.repeat(levels)}}`

  it.each<[string, string | Buffer, string]>([
    ['broken', '{"name":', 'Body is not valid JSON'],
    ['with a trailing comma', '{"name":"x",}', 'Body is not valid JSON'],
    ['with NUL', '{"name":"a\\u0000b"}', 'Text must not contain NUL characters'],
    [
      'with NUL in a field name',
      '{"name":"x","a\\u0000":1}',
      'Text must not contain NUL characters',
    ],
    ['with a lone surrogate', '{"name":"a\\ud800b"}', 'Text must be valid Unicode'],
    ['in another encoding', Buffer.from('{"name":"\xe9"}', 'latin1'), 'Body is not valid UTF-8'],
    [
      'with __proto__',
      '{"name":"x","__proto__":{"size":9}}',
      'Body must not contain the name __proto__',
    ],
    [
      'with an escaped __proto__',
      '{"name":"x","\\u005f_proto__":{}}',
      'Body must not contain the name __proto__',
    ],
    [
      'with lists nested 20,000 deep',
      deep('[', ']', 20_000),
      'Body is nested deeper than 100 levels',
    ],
    [
      'with objects nested 20,000 deep',
      deep('{"a":', '}', 20_000),
      'Body is nested deeper than 100 levels',
    ],
    ['without an end', '['.repeat(500_000), 'Body is not valid JSON'],
  ])('is rejected: %s', async (_what, raw, msg) => {
    const answer = await postRaw(raw)
    expect(answer.status).toBe(422)
    expect(answer.body.detail).toEqual([{ loc: ['body'], msg, type: 'json_invalid' }])
  })

  it('is rejected above 1 MiB, and not below', async () => {
    const sized = (bytes: number) =>
      `{"name":"x","e":"${'x'.repeat(bytes - '{"name":"x","e":""}'.length)}"}`
    expect((await postRaw(sized(1024 * 1024))).status).toBe(201)
    expect(await postRaw(sized(1024 * 1024 + 1))).toMatchObject({
      status: 413,
      body: { msg: 'Request body is too large' },
    })
  })

  it.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['application/xml'],
    ['nonsense'],
  ])('is rejected with 415 when it is sent as %s', async (type) => {
    expect(await postRaw('{"name":"x"}', undefined, type)).toMatchObject({
      status: 415,
      body: { msg: 'Send the body as application/json' },
    })
  })

  it('may be missing on a route without a body, whatever its type (B7.5)', async () => {
    const path = '/api/v1/probe/no-body-schema'
    for (const type of ['application/x-www-form-urlencoded', 'text/plain']) {
      expect(await postRaw('', path, type)).toMatchObject({ status: 200 })
    }
    expect(await postRaw('', path)).toMatchObject({ status: 200, body: { data: { body: null } } })
    expect(await app.send('POST', path)).toMatchObject({ status: 200 })
  })
})

describe('a body that the service validates', () => {
  const rules = '/api/v1/probe/rules'

  it.each([[''], ['{'], ['[]'], ['null'], ['{}'], ['"text"'], ['7'], ['{"name":"a\\u0000"}']])(
    'gets "No data provided" for the body %j',
    async (raw) => {
      const answer = await postRaw(raw, rules)
      expect(answer).toMatchObject({ status: 400, body: { msg: 'No data provided' } })
      expect(answer.body.detail).toBeUndefined()
    },
  )

  it('gets "No data provided" when it is missing', async () => {
    expect(await app.send('POST', rules)).toMatchObject({
      status: 400,
      body: { msg: 'No data provided' },
    })
  })

  it('gets 400 with every problem, never the 422 of the schema', async () => {
    const answer = await post({ name: 7 }, rules)
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({
      type: 'error',
      msg: 'Validation failed',
      data: { errors: ['Name is required', 'Name must be text'] },
      correlation_id: answer.headers['x-correlation-id'],
    })
  })

  it('reaches the service as it was sent', async () => {
    const body = { name: 'x', beyond_the_schema: [1] }
    expect(await post(body, rules)).toMatchObject({ status: 200, body: { data: body } })
  })

  it('may be a list where the schema is a list, and only the service validates it', async () => {
    const lists = '/api/v1/probe/rules/list'
    for (const body of [['a'], [], { not: 'a list' }]) {
      expect((await post(body, lists)).body.data).toEqual(body)
    }
    for (const raw of ['', 'null']) {
      expect(await postRaw(raw, lists)).toMatchObject({
        status: 400,
        body: { msg: 'No data provided' },
      })
    }
  })
})

describe('a query value', () => {
  it.each([
    ['sort_by=color', 'sort_by must be one of name, size', 'enum'],
    ['page=0', 'page must be at least 1', 'greater_than_equal'],
    ['page=-1', 'page must be at least 1', 'greater_than_equal'],
    ['per_page=0', 'per_page must be at least 1', 'greater_than_equal'],
    ['page=x', 'page must be a whole number', 'integer_type'],
    ['page=', 'page must be a whole number', 'integer_type'],
    ['page=1.5', 'page must be a whole number', 'integer_type'],
    ['page=1&page=2', 'page must be a whole number', 'integer_type'],
    ['page=Infinity', 'page must be a whole number', 'integer_type'],
    ['page=1e400', 'page must be a whole number', 'integer_type'],
    ['page=0x10', 'page must be a whole number', 'integer_type'],
    [`page=${'9'.repeat(400)}`, 'page must be a whole number', 'integer_type'],
    ['active=maybe', "active must be 'true' or 'false'", 'bool_parsing'],
    ['active=', "active must be 'true' or 'false'", 'bool_parsing'],
    ['active=true&active=false', "active must be 'true' or 'false'", 'bool_parsing'],
  ])('is rejected in the envelope: %s', async (query, msg, type) => {
    const answer = await list(query)
    expect(answer).toMatchObject({
      status: 422,
      body: { type: 'error', msg, detail: [{ loc: ['query', query.split('=')[0]], type }] },
    })
  })

  it.each([
    ['true', true],
    ['TRUE', true],
    ['1', true],
    ['false', false],
    ['False', false],
    ['0', false],
  ])('of a boolean accepts %s', async (word, active) => {
    expect((await list(`active=${word}`)).body.data.active).toBe(active)
  })

  it('text is kept unchanged, digits and escapes included', async () => {
    expect((await list('q=007')).body.data.q).toBe('007')
    expect((await list('q=a%2Bb%20c%25')).body.data.q).toBe('a+b c%')
    expect((await list('q=%ED%A0%80%ff')).status).toBe(200)
  })
})

describe('a page', () => {
  const pagination = async (query: string) => (await list(query)).body.data

  it('is the first with 50 entries by default', async () => {
    const { items, pagination: page } = await pagination('total=120')
    expect(items).toHaveLength(50)
    expect(page).toEqual({ page: 1, per_page: 50, total: 120, total_pages: 3 })
  })

  it('has at most 200 entries', async () => {
    const { items, pagination: page } = await pagination('total=201&per_page=201')
    expect(items).toHaveLength(200)
    expect(page).toEqual({ page: 1, per_page: 200, total: 201, total_pages: 2 })
  })

  it('reports zero pages for an empty list', async () => {
    expect(await pagination('total=0')).toMatchObject({
      items: [],
      pagination: { page: 1, per_page: 50, total: 0, total_pages: 0 },
    })
  })

  it('beyond the end is empty', async () => {
    expect(await pagination('total=3&page=3&per_page=2')).toMatchObject({
      items: [],
      pagination: { page: 3, per_page: 2, total: 3, total_pages: 2 },
    })
  })

  it.each([['99999999999999999999'], [`1${'0'.repeat(200)}`]])(
    'far beyond it (%s) is too, and PostgreSQL can count that far',
    async (page) => {
      const data = await pagination(`total=3&page=${page}`)
      expect(data.items).toEqual([])
      const owner = await operator()
      const real = await owner.get(`/api/v1/platform/operators?page=${page}`)
      expect(real).toMatchObject({ status: 200, body: { data: { items: [] } } })
    },
  )

  let owner: ReturnType<Probe['operator']> | undefined
  const operator = () => {
    owner ??= app.operator('owner')
    return owner
  }
})
