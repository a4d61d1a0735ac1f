import { describe, expect, it } from 'vitest'
import { distinct, parseAddresses, showAddress, showAddresses } from './addresses.ts'

describe('addresses that a person typed', () => {
  it('are separated by commas, semicolons and line breaks', () => {
    expect(parseAddresses('a@x.test, B <b@x.test>;c@x.test\nd@x.test,')).toEqual({
      addresses: [
        { email: 'a@x.test' },
        { name: 'B', email: 'b@x.test' },
        { email: 'c@x.test' },
        { email: 'd@x.test' },
      ],
      wrong: [],
    })
  })

  it('keep a comma and escaped quotes in a quoted name', () => {
    expect(parseAddresses('"Doe, \\"J\\"" <j@x.test>').addresses).toEqual([
      { name: 'Doe, "J"', email: 'j@x.test' },
    ])
  })

  it('are reported where they are no addresses', () => {
    expect(parseAddresses('jane, <>, x@, a b@x.test, ok@x.test')).toEqual({
      addresses: [{ email: 'ok@x.test' }],
      wrong: ['jane', '<>', 'x@', 'a b@x.test'],
    })
  })

  it.each([
    { name: 'Jürgen Müller', email: 'j@x.test' },
    { name: 'Doe, "J" \\ Co.', email: 'j@x.test' },
    { name: 'a <b@evil.test>', email: 'j@x.test' },
    { email: 'j@x.test' },
  ])('are read back as they were shown: $name', (address) => {
    expect(parseAddresses(showAddress(address))).toEqual({ addresses: [address], wrong: [] })
  })
})

it('shows nothing for a message without recipients', () => {
  expect(showAddresses(null)).toBe('')
})

it('keeps the first of addresses that differ in case only, and none of the excluded ones', () => {
  const [a, A, b] = [{ email: 'a@x.test' }, { email: 'A@X.test' }, { email: 'b@x.test' }]
  expect(distinct([a, A, b])).toEqual([a, b])
  expect(distinct([a, b], [A])).toEqual([b])
})
