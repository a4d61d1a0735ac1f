import { describe, expect, it } from 'vitest'
// Declare the events that the messages name.
import '../../rate-limiter/rate-limiter.events.ts'
import '../../../hosting/security.events.ts'
import '../ingestion/ingestion.events.ts'
import { MAX_MESSAGE_BYTES, type Message, readMessage } from './message.ts'

const read = (message: unknown) => readMessage(Buffer.from(JSON.stringify(message)))
const event = 'security.ip.blocked'
const data = { ip_address: '192.0.2.7', domain: 'acme.test', rule_type: 'blacklist' }

describe('readMessage', () => {
  it.each([
    ['no JSON', Buffer.from('{not json'), 'not_json'],
    ['nothing', Buffer.alloc(0), 'not_json'],
    ['bytes that are no text', Buffer.from([0x7b, 0xff, 0x7d]), 'not_json'],
    ['a NUL character', Buffer.from('{"event": "x\\u0000"}'), 'not_json'],
    ['half a character', Buffer.from('{"event": "\\ud800"}'), 'not_json'],
    ['a prototype', Buffer.from('{"__proto__": {"event": "webhook.test"}}'), 'not_json'],
    ['endless nesting', Buffer.from('['.repeat(200_000)), 'not_json'],
    ['deep nesting', Buffer.from(`{"data": ${'['.repeat(200)}${']'.repeat(200)}}`), 'not_json'],
    ['too many bytes', Buffer.alloc(MAX_MESSAGE_BYTES + 1, 0x20), 'too_large'],
  ])('rejects a message with %s', (_what, content, problem) => {
    expect(readMessage(content)).toBe(problem)
  })

  it.each([
    ['a list', []],
    ['null', null],
    ['a text', 'event'],
    ['no event', { data }],
    ['an event that is no text', { event: 7, data }],
    ['data that is no object', { event, data: [] }],
    ['tags that are no list', { event, data, tags: 'one' }],
    ['tags that are no texts', { event, data, tags: [1] }],
    ['metadata that is no object', { event, data, metadata: 'x' }],
    ['user variables that are no object', { event, data, user_variables: [] }],
    ['an organization that is no text', { event, data, org_id: 12 }],
    ['a domain that is no text', { event, data, domain: {} }],
    ['an id that is too long', { event, data, id: 'x'.repeat(256) }],
  ])('rejects a message that is, or has, %s', (_what, message) => {
    expect(read(message)).toBe('shape')
  })

  it('rejects an event that is not in the catalogue', () => {
    for (const name of ['ip.blocked', 'toString', 'email.imap.*', 'security.ip.blocked.x']) {
      expect(read({ event: name, data }), name).toBe('unknown_event')
    }
  })

  it('rejects data of other types than declared', () => {
    expect(read({ event, data: { ...data, ip_address: 7 } })).toBe('data')
    expect(read({ event: 'rate_limit.exceeded', data: { limit: '100' } })).toBe('data')
  })

  it('accepts data with missing, null and additional fields', () => {
    for (const some of [{}, { ip_address: null }, { ...data, more: { of: ['it'] } }]) {
      expect(read({ event, data: some })).toMatchObject({ data: some })
    }
    expect(read({ event })).toMatchObject({ data: {} })
    expect(read({ event, data: null, tags: null, org_id: null })).toMatchObject({ tags: [] })
  })

  it('accepts both names of a field, such as event and event_type', () => {
    const whole = {
      id: 'm1',
      event,
      source: 'edge',
      org_id: 'o1',
      domain: 'acme.test',
      tags: ['a'],
      user_variables: { b: 1 },
      metadata: { c: [2] },
      data,
    }
    const { type, ...rest } = read(whole) as Message
    const { event: _event, source: _source, ...expected } = whole
    expect(rest).toEqual(expected)
    expect(type).toMatchObject({ name: event, source: 'edge' })
    expect(read({ event_type: event, organization_id: 'o1', data })).toMatchObject({
      org_id: 'o1',
      type: { name: event, source: 'postfix' },
    })
    expect(read({ event: 'email.imap.append' })).toMatchObject({
      type: { name: 'email.imap.append', source: 'dovecot' },
    })
  })
})
