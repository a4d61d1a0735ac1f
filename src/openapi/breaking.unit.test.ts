import { describe, expect, it } from 'vitest'
import {
  body,
  changesAfter,
  type Description,
  description,
  PATH,
  put,
  text,
  thing,
} from '../../test/support/description.ts'
import { breakingChanges } from './breaking.ts'

/** Moves a response to the components, as the generator does with error responses. */
function shareResponse(one: Description, status: string): void {
  const { responses } = put(one)
  Object.assign(one.components, { responses: { shared: responses[status] } })
  responses[status] = { $ref: '#/components/responses/shared' }
}

describe('a breaking change', () => {
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
      'a constant changes',
      (after) => {
        thing(after).properties.type = { const: 'ok' }
      },
      'type is no longer "success"',
    ],
    [
      'the body of a response is removed',
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
      'a query value is no longer accepted',
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
      'a request value is no longer accepted',
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
    [
      'the request body is removed',
      (after) => delete put(after).requestBody,
      'no longer takes a body',
    ],
    [
      'the auth label changes',
      (after) => {
        put(after)['x-auth'] = 'Key(admin)'
      },
      'is labelled Key(admin), was Key(write)',
    ],
  ])('is reported: %s', (_what, change, message) => {
    expect(changesAfter(change)).toEqual([expect.stringContaining(message)])
  })

  it.each([
    ['in the old description', true, false],
    ['in the new description', false, true],
    ['in both', true, true],
  ])('is reported with error responses shared by $ref %s', (_where, inOld, inNew) => {
    const before = description()
    const after = structuredClone(before)
    after.components.examples.taken.value.error_code = 'THING_EXISTS'
    if (inOld) shareResponse(before, '409')
    if (inNew) shareResponse(after, '409')
    expect(breakingChanges(before, after)).toEqual([
      `PUT ${PATH} no longer answers error_code THING_TAKEN`,
    ])
    expect(breakingChanges(before, before)).toEqual([])
  })

  it('is reported: a body becomes required', () => {
    const before = description()
    put(before).requestBody.required = false
    const found = changesAfter((after) => {
      put(after).requestBody.required = true
    }, before)
    expect(found).toEqual([`PUT ${PATH} now requires a body`])
  })
})
