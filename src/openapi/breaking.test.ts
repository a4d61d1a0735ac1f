import { describe, expect, it } from 'vitest'
import { breakingChanges } from './breaking.ts'

const TODAY = new Date('2027-06-01')

const text = { type: 'string' }
const operation = () => ({
  operationId: 'rename_thing',
  'x-auth': 'Key(write)',
  parameters: [
    { name: 'thing_id', in: 'path', required: true, schema: text },
    { name: 'force', in: 'query', required: false, schema: { type: 'boolean' } },
    { name: 'sort_by', in: 'query', required: false, schema: { ...text, enum: ['name', 'size'] } },
    { $ref: '#/components/parameters/IdempotencyKey' },
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['name'],
          properties: {
            name: { ...text, minLength: 1, maxLength: 255 },
            size: { type: 'integer', minimum: 0, maximum: 9 },
            kind: { ...text, enum: ['a', 'b'] },
            tags: { type: 'array', minItems: 0, maxItems: 5, items: text },
            note: { type: ['string', 'null'] },
            inner: { type: 'object', properties: { deep: text } },
          },
        },
      },
    },
  },
  responses: {
    '200': {
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/Thing' } },
      },
    },
    '404': {
      content: {
        'application/json': {
          schema: {},
          examples: { missing: { $ref: '#/components/examples/missing' } },
        },
      },
    },
    '409': {
      content: {
        'application/json': {
          schema: {},
          examples: { taken: { $ref: '#/components/examples/taken' } },
        },
      },
    },
  },
})

const description = () => ({
  paths: { '/api/v1/things/{thing_id}': { put: operation() } } as Record<
    string,
    // biome-ignore lint/suspicious/noExplicitAny: tests change whatever there is in a description
    Record<string, any>
  >,
  components: {
    schemas: {
      Thing: {
        type: 'object',
        required: ['type', 'id', 'items'],
        properties: {
          type: { const: 'success' },
          id: text,
          made_at: { ...text, format: 'date-time' },
          size: { type: ['integer', 'null'] },
          items: { type: 'array', items: { type: 'object', properties: { name: text } } },
        },
      },
      // biome-ignore lint/suspicious/noExplicitAny: as above
    } as any,
    examples: {
      missing: { value: { msg: 'Thing not found' } },
      taken: { value: { msg: 'Thing already exists', error_code: 'THING_TAKEN' } },
      // biome-ignore lint/suspicious/noExplicitAny: as above
    } as any,
  },
})

type Description = ReturnType<typeof description>
const PATH = '/api/v1/things/{thing_id}'
const put = (one: Description) => one.paths[PATH]?.put
const body = (one: Description) => put(one).requestBody.content['application/json'].schema
const thing = (one: Description) => one.components.schemas.Thing

const changesAfter = (change: (after: Description) => void, before = description()) => {
  const after = structuredClone(before)
  change(after)
  return breakingChanges(before, after, TODAY)
}

describe('a change that breaks a promise', () => {
  it.each<[string, (after: Description) => void, string]>([
    ['an endpoint is removed', (after) => delete after.paths[PATH], `PUT ${PATH} was removed`],
    [
      'an endpoint is renamed',
      (after) => {
        after.paths['/api/v1/objects/{thing_id}'] = after.paths[PATH] as never
        delete after.paths[PATH]
      },
      `PUT ${PATH} was removed`,
    ],
    [
      'a method is changed',
      (after) => {
        after.paths[PATH] = { patch: put(after) }
      },
      `PUT ${PATH} was removed`,
    ],
    [
      'a response field is removed',
      (after) => delete thing(after).properties.size,
      'lost the field size',
    ],
    [
      'a response field is renamed',
      (after) => {
        thing(after).properties.identifier = text
        delete thing(after).properties.id
      },
      'lost the field id',
    ],
    [
      'a field inside a list is removed',
      (after) => delete thing(after).properties.items.items.properties.name,
      'lost the field name',
    ],
    [
      'a field may now be missing',
      (after) => thing(after).required.pop(),
      'no longer promises the field items',
    ],
    [
      'a response field changes its type',
      (after) => {
        thing(after).properties.id = { type: 'integer' }
      },
      'id may now be integer, was string',
    ],
    [
      'a response field may now be null',
      (after) => {
        thing(after).properties.id = { type: ['string', 'null'] }
      },
      'id may now be null, was string',
    ],
    [
      'a response field may now be anything',
      (after) => {
        thing(after).properties.id = {}
      },
      'id may now be anything, was string',
    ],
    [
      'a response field changes its format',
      (after) => {
        thing(after).properties.made_at = { ...text, format: 'date' }
      },
      'made_at is no longer a date-time',
    ],
    [
      'a fixed word changes',
      (after) => {
        thing(after).properties.type = { const: 'ok' }
      },
      'type is no longer "success"',
    ],
    [
      'the body of a response goes',
      (after) => delete put(after).responses['200'].content,
      '200 no longer has a body',
    ],
    [
      'the status of a success changes',
      (after) => {
        put(after).responses['201'] = put(after).responses['200']
        delete put(after).responses['200']
      },
      'no longer answers 200',
    ],
    [
      'the status of a failure changes',
      (after) => {
        put(after).responses['400'] = put(after).responses['404']
        delete put(after).responses['404']
      },
      'answers "Thing not found" with 400, was 404',
    ],
    [
      'an error_code is renamed',
      (after) => {
        after.components.examples.taken.value.error_code = 'THING_EXISTS'
      },
      'no longer answers error_code THING_TAKEN',
    ],
    [
      'a query parameter is removed',
      (after) => put(after).parameters.splice(1, 1),
      'no longer takes the query parameter force',
    ],
    [
      'a query parameter is renamed',
      (after) => {
        put(after).parameters[1].name = 'forced'
      },
      'no longer takes the query parameter force',
    ],
    [
      'a query parameter becomes required',
      (after) => {
        put(after).parameters[1].required = true
      },
      'now requires force',
    ],
    [
      'a new query parameter is required',
      (after) =>
        put(after).parameters.push({ name: 'reason', in: 'query', required: true, schema: text }),
      'now requires reason',
    ],
    [
      'a query word is no longer taken',
      (after) => put(after).parameters[2].schema.enum.pop(),
      'sort_by no longer takes size',
    ],
    [
      'a request field is removed',
      (after) => delete body(after).properties.size,
      'body no longer takes size',
    ],
    [
      'a field inside a request field is removed',
      (after) => delete body(after).properties.inner.properties.deep,
      'body inner no longer takes deep',
    ],
    [
      'a request field changes its type',
      (after) => {
        body(after).properties.size.type = 'string'
      },
      'body size no longer takes integer',
    ],
    [
      'a request field may no longer be null',
      (after) => {
        body(after).properties.note.type = 'string'
      },
      'body note no longer takes null',
    ],
    [
      'a request field becomes required',
      (after) => body(after).required.push('size'),
      'body now requires size',
    ],
    [
      'a new request field is required',
      (after) => {
        body(after).properties.reason = text
        body(after).required.push('reason')
      },
      'body now requires reason',
    ],
    [
      'a request word is no longer taken',
      (after) => body(after).properties.kind.enum.pop(),
      'body kind no longer takes b',
    ],
    [
      'free text becomes a choice',
      (after) => {
        body(after).properties.name.enum = ['x']
      },
      'body name no longer takes any value',
    ],
    [
      'free text becomes one word',
      (after) => {
        body(after).properties.name.const = 'x'
      },
      'body name no longer takes any value',
    ],
    [
      'a pattern is added',
      (after) => {
        body(after).properties.name.pattern = '^x'
      },
      'body name: pattern is now ^x',
    ],
    [
      'a format is added',
      (after) => {
        body(after).properties.name.format = 'email'
      },
      'body name: format is now email',
    ],
    ...(
      [
        ['name', 'minLength', 2],
        ['name', 'maxLength', 254],
        ['size', 'minimum', 1],
        ['size', 'maximum', 8],
        ['tags', 'minItems', 1],
        ['tags', 'maxItems', 4],
        ['note', 'maxLength', 1000],
      ] as const
    ).map(([field, bound, limit]): [string, (after: Description) => void, string] => [
      `the ${bound} of a request field is tightened`,
      (after) => {
        body(after).properties[field][bound] = limit
      },
      `body ${field}: ${bound} is now ${limit}`,
    ]),
    ['the body goes', (after) => delete put(after).requestBody, 'no longer takes a body'],
    [
      'somebody else may call',
      (after) => {
        put(after)['x-auth'] = 'Key(admin)'
      },
      'is labelled Key(admin), was Key(write)',
    ],
  ])('is found: %s', (_what, change, told) => {
    expect(changesAfter(change)).toEqual([expect.stringContaining(told)])
  })

  it('is found: a body becomes required', () => {
    const before = description()
    put(before).requestBody.required = false
    const found = changesAfter((after) => {
      put(after).requestBody.required = true
    }, before)
    expect(found).toEqual([`PUT ${PATH} now requires a body`])
  })
})

describe('a change that breaks none', () => {
  it.each<[string, (after: Description) => void]>([
    ['nothing', () => {}],
    [
      'a new endpoint',
      (after) => {
        after.paths['/api/v1/others'] = { get: operation() }
      },
    ],
    [
      'a new method',
      (after) => {
        ;(after.paths[PATH] as Record<string, unknown>).delete = operation()
      },
    ],
    [
      'a new optional field in a request',
      (after) => {
        body(after).properties.extra = { ...text, default: 'x' }
      },
    ],
    [
      'a new optional parameter',
      (after) =>
        put(after).parameters.push({ name: 'q', in: 'query', required: false, schema: text }),
    ],
    [
      'a new field in a response',
      (after) => {
        thing(after).properties.extra = text
        thing(after).required.push('extra')
      },
    ],
    [
      'a field that is never null any more',
      (after) => {
        thing(after).properties.size.type = 'integer'
      },
    ],
    [
      'an error_code for a case that had none',
      (after) => {
        after.components.examples.missing.value.error_code = 'THING_MISSING'
      },
    ],
    ['a failure that no longer happens', (after) => delete put(after).responses['404']],
    [
      'a failure that was not described',
      (after) => {
        put(after).responses['429'] = { content: {} }
      },
    ],
    ['a field that is no longer required', (after) => body(after).required.pop()],
    ['another word', (after) => body(after).properties.kind.enum.push('c')],
    [
      'free text instead of a choice',
      (after) => {
        delete body(after).properties.kind.enum
      },
    ],
    [
      'a wider range',
      (after) => {
        Object.assign(body(after).properties.size, { minimum: -1, maximum: 10, type: 'number' })
        Object.assign(body(after).properties.name, { minLength: 0 })
        delete body(after).properties.name.maxLength
      },
    ],
    [
      'a named schema instead of one in place',
      (after) => {
        after.components.schemas.Rename = body(after)
        put(after).requestBody.content['application/json'].schema = {
          $ref: '#/components/schemas/Rename',
        }
      },
    ],
    [
      'a deprecation',
      (after) => {
        Object.assign(put(after), { deprecated: true, 'x-sunset': '2028-01-01' })
      },
    ],
  ])('is fine: %s', (_what, change) => {
    expect(changesAfter(change)).toEqual([])
  })
})

describe('the end of a deprecated endpoint', () => {
  const removedAfter = (marks: object) => {
    const before = description()
    Object.assign(put(before), marks)
    return changesAfter((after) => delete after.paths[PATH], before)
  }

  it.each([
    ['before its sunset', { deprecated: true, 'x-sunset': '2027-06-02' }],
    ['without a sunset', { deprecated: true }],
    ['without having been deprecated', { 'x-sunset': '2027-05-31' }],
  ])('breaks a promise %s', (_when, marks) => {
    expect(removedAfter(marks)).toEqual([`PUT ${PATH} was removed`])
  })

  it('is fine once its sunset has passed', () => {
    expect(removedAfter({ deprecated: true, 'x-sunset': '2027-05-31' })).toEqual([])
  })
})
