import { expect, it } from 'vitest'
import { authorsIn } from './author-addresses.ts'
import { headersOf } from './headers.ts'

const authorsOf = (text: string) => authorsIn(headersOf(Buffer.from(`${text}\r\n\r\nbody`)))
const addressesOf = (text: string) => authorsOf(text).addresses.map(({ address }) => address)

it.each<[string, string[]]>([
  ['From: Jane <Jane@Acme.Test>', ['jane@acme.test']],
  ['From: a@acme.test, "b, c" <b@acme.test>', ['a@acme.test', 'b@acme.test']],
  ['From: "ceo@victim.test" <a@evil.test>', ['a@evil.test']],
  ['From: (ceo@victim.test) a@evil.test', ['a@evil.test']],
  ['From: ceo@victim.test <a@evil.test>', ['ceo@victim.test', 'a@evil.test']],
  ['From: Board: ceo@victim.test;', ['ceo@victim.test']],
  ['From: <@evil.test:ceo@victim.test>', ['ceo@victim.test']],
  ['From: ceo @ (x) victim . test', ['ceo@victim.test']],
  ['From: "ceo"@victim.test', ['ceo@victim.test']],
  ['From: "c e o"@victim.test', ['c?e?o@victim.test']],
  ['From: "x@evil.test"@victim.test', ['x?evil.test@victim.test']],
  ['From: ceo\\@victim.test <a@evil.test>', ['ceo@victim.test', 'a@evil.test']],
  ['From: "open ceo@victim.test', ['ceo@victim.test']],
  ['From: (open ceo@victim.test', ['ceo@victim.test']],
  ['From:\r\n\tceo@victim.test', ['ceo@victim.test']],
  ['From : ceo@victim.test', ['ceo@victim.test']],
  ['From: a@evil.test\r\nSender: ceo@victim.test', ['a@evil.test', 'ceo@victim.test']],
  ['From: a@evil.test\r\nFROM: ceo@victim.test', ['a@evil.test', 'ceo@victim.test']],
  ['Subject: x\rFrom: ceo@victim.test', ['ceo@victim.test']],
  ['From: ceo@victím.test', ['ceo@victím.test']],
  ['Reply-To: ceo@victim.test\r\nTo: ceo@victim.test', []],
])('finds the author addresses of %j', (text, expected) => {
  expect(addressesOf(text)).toEqual(expected)
})

it('names a field that has no address', () => {
  expect(authorsOf('From: =?utf-8?q?ceo=40victim.test?=').empty).toBe('from')
  expect(authorsOf('From: a@evil.test\r\nSender: nobody').empty).toBe('sender')
  expect(authorsOf('Subject: none').empty).toBeUndefined()
})

it('reads long malformed headers without backtracking', () => {
  for (const filler of ['(', '"', '"" ', '\\', '@ ', ' .', '(a"', ' ', 'a']) {
    expect(addressesOf(`From: ${filler.repeat(50_000)}`)).toHaveLength(0)
  }
})

it('does not read fields that are longer than any list of authors', () => {
  const few = authorsOf(`From: ${'a@b.test, '.repeat(50)}`)
  expect(few).toMatchObject({ isTooLong: false, addresses: { length: 50 } })
  const many = authorsOf(`From: ${'a@b.test, '.repeat(2000)}\r\nSender: ${'(a) '.repeat(5000)}`)
  expect(many).toEqual({ addresses: [], empty: undefined, isTooLong: true })
})
