import { describe, expect, it } from 'vitest'
import { toMailAddress } from './mail-address.ts'

describe('toMailAddress', () => {
  it.each([
    ['Jane.Doe@Acme.Test', 'jane.doe@acme.test'],
    [' jane@acme.test ', 'jane@acme.test'],
    ['jane+news@acme.test', 'jane+news@acme.test'],
    ['100%_sure-thing@acme.test', '100%_sure-thing@acme.test'],
    ['jane@münchen.example', 'jane@xn--mnchen-3ya.example'],
    ['jane@XN--MNCHEN-3YA.example', 'jane@xn--mnchen-3ya.example'],
    ['jane@пример.рф', 'jane@xn--e1afmkfd.xn--p1ai'],
    [`${'x'.repeat(64)}@acme.test`, `${'x'.repeat(64)}@acme.test`],
  ])('normalizes %s to %s', (text, address) => {
    expect(toMailAddress(text)?.address).toBe(address)
  })

  it.each([
    ['without an at sign', 'jane'],
    ['with two at signs', 'jane@doe@acme.test'],
    ['without a local part', '@acme.test'],
    ['without a domain', 'jane@'],
    ['with a quoted local part', '"jane doe"@acme.test'],
    ['with a space', 'jane doe@acme.test'],
    ['with a leading dot', '.jane@acme.test'],
    ['with a trailing dot', 'jane.@acme.test'],
    ['with a double dot', 'jane..doe@acme.test'],
    ['with a Cyrillic letter', 'j\u0430ne@acme.test'],
    ['with a Kelvin sign', '\u212Aate@acme.test'],
    ['with a full-width letter', '\uFF4Aane@acme.test'],
    ['with a zero-width space', 'ja\u200Bne@acme.test'],
    ['with a line break', 'jane\r\nBcc: x@acme.test'],
    ['with a line break at the end', 'jane@acme.test\n'],
    ['with a tab before it', '\tjane@acme.test'],
    ['with a line break in the domain', 'jane@acme\n.test'],
    ['with DEL', 'jane\u007F@acme.test'],
    ['with a slash', '../jane@acme.test'],
    ['with a comment', 'jane(x)@acme.test'],
    ['with a route', '@hub.test:jane@acme.test'],
    ['with an address literal', 'jane@[127.0.0.1]'],
    ['with an address for a domain', 'jane@127.0.0.1'],
    ['with a URL for a domain', 'jane@acme.test/inbox'],
    ['with a dot at the end', 'jane@acme.test.'],
    ['with a single label', 'jane@localhost'],
    ['with a one-letter top level', 'jane@acme.t'],
    ['with digits at the top level', 'jane@acme.c0m'],
    ['with 65 characters before the at sign', `${'x'.repeat(65)}@acme.test`],
    ['with 255 characters altogether', `${'x'.repeat(64)}@${'y.'.repeat(92)}tester`],
  ])('rejects an address %s', (_what, text) => {
    expect(toMailAddress(text)).toBeUndefined()
  })

  it('accepts an address of 254 characters', () => {
    const longest = `${'x'.repeat(64)}@${'y.'.repeat(92)}teste`
    expect(longest).toHaveLength(254)
    expect(toMailAddress(longest)?.address).toBe(longest)
  })
})
