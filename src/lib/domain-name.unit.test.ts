import { describe, expect, it } from 'vitest'
import { toDomainName } from './domain-name.ts'

describe('toDomainName', () => {
  it.each([
    [''],
    ['localhost'],
    ['.com'],
    ['example..com'],
    ['example.com..'],
    ['-a.com'],
    ['a-.com'],
    ['a_b.com'],
    ['a b.com'],
    ['exa\nmple.com'],
    ['example.com\n'],
    ['\texample.com'],
    ['\u00A0example.com'],
    ['example.com/path'],
    ['example.com?x=1'],
    ['example.com#x'],
    ['ex%61mple.com'],
    ['user@example.com'],
    ['example.com:25'],
    ['https://example.com'],
    ['192.0.2.1'],
    ['0x7f.1'],
    ['[::1]'],
    ['*.example.com'],
    [`${'a'.repeat(64)}.com`],
    [`${'a.'.repeat(126)}com`],
    ['example.com\0'],
    ['xn--zzzzzz-.com'],
    ['xn--a.com'],
    ['xn--0.com'],
  ])('rejects %j', (text) => {
    expect(toDomainName(text)).toBeUndefined()
  })

  it.each([
    ['example.com', 'example.com'],
    [' Mail.EXAMPLE.com. ', 'mail.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
    ['例え.jp', 'xn--r8jz45g.jp'],
    ['4.example.co.uk', '4.example.co.uk'],
    [`${'a'.repeat(63)}.com`, `${'a'.repeat(63)}.com`],
    // 253 characters, the longest name.
    [`${'a.'.repeat(125)}com`, `${'a.'.repeat(125)}com`],
  ])('normalizes %j to %s', (text, name) => {
    expect(toDomainName(text)).toBe(name)
  })
})
