import { describe, expect, it } from 'vitest'
import {
  body,
  changesAfter,
  type Description,
  description,
  operation,
  PATH,
  put,
  text,
  thing,
} from '../../test/support/description.ts'

describe('a compatible change', () => {
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
  ])('is not reported: %s', (_what, change) => {
    expect(changesAfter(change)).toEqual([])
  })
})

describe('the removal of a deprecated endpoint', () => {
  const removedAfter = (marks: object) => {
    const before = description()
    Object.assign(put(before), marks)
    return changesAfter((after) => delete after.paths[PATH], before)
  }

  it.each([
    ['before its sunset', { deprecated: true, 'x-sunset': '2027-06-02' }],
    ['without a sunset', { deprecated: true }],
    ['without having been deprecated', { 'x-sunset': '2027-05-31' }],
  ])('is reported %s', (_when, marks) => {
    expect(removedAfter(marks)).toEqual([`PUT ${PATH} was removed`])
  })

  it('is not reported after its sunset', () => {
    expect(removedAfter({ deprecated: true, 'x-sunset': '2027-05-31' })).toEqual([])
  })
})
