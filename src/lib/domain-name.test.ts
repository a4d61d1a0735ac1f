import { describe, expect, it } from 'vitest'
import { toDomainName } from './domain-name.ts'

describe('a domain name', () => {
  it.each([
    ['Acme.Test', 'acme.test'],
    [' acme.test. ', 'acme.test'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
    ['ＡＣＭＥ.test', 'acme.test'],
    [`${'a'.repeat(63)}.test`, `${'a'.repeat(63)}.test`],
  ])('%s is written %s', (text, name) => {
    expect(toDomainName(text)).toBe(name)
  })

  it.each([
    ['acme'],
    ['acme..test'],
    ['-acme.test'],
    ['ac_me.test'],
    ['127.0.0.1'],
    ['[::1]'],
    ['acme.test/inbox'],
    ['acme.test?q'],
    ['acme.test#top'],
    ['acme.test\\x'],
    ['acme.test:25'],
    ['user@acme.test'],
    ['a%63me.test'],
    ['ac\tme.test'],
    ['ac\u0007me.test'],
    [`${'a'.repeat(64)}.test`],
    [`${'a.'.repeat(126)}test`],
  ])('is not %j', (text) => {
    expect(toDomainName(text)).toBeUndefined()
  })
})
