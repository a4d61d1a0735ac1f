import { breakingChanges } from '../../src/openapi/breaking.ts'

const TODAY = new Date('2027-06-01')

export const text = { type: 'string' }
export const operation = () => ({
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

/** A small description of one route that contains every kind of element that can change. */
export const description = () => ({
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

export type Description = ReturnType<typeof description>
export const PATH = '/api/v1/things/{thing_id}'
export const put = (one: Description) => one.paths[PATH]?.put
export const body = (one: Description) => put(one).requestBody.content['application/json'].schema
export const thing = (one: Description) => one.components.schemas.Thing

/** Returns the breaking changes that are reported after a change of the description. */
export const changesAfter = (change: (after: Description) => void, before = description()) => {
  const after = structuredClone(before)
  change(after)
  return breakingChanges(before, after, TODAY)
}
