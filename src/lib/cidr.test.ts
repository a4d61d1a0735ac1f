import { describe, expect, it } from 'vitest'
import { parseNetworks, plainAddress } from './cidr.ts'

describe('networks', () => {
  it.each([
    [''],
    ['10.0.0.0/33'],
    ['10.0.0.0/'],
    ['10.0.0.0/-1'],
    ['10.0.0.0/8/8'],
    ['10.0.0/8'],
    ['10.0.0.256'],
    ['::1/129'],
    ['example.com'],
    ['10.0.0.0/8 '],
    ['10.0.0.0/1e1'],
  ])('are not made of %j, even beside good ones', (entry) => {
    expect(parseNetworks(['192.0.2.1', entry])).toBeUndefined()
  })

  it('contain what lies in one of them, to the first and last address', () => {
    const networks = parseNetworks(['10.1.0.0/16', '192.0.2.7', '2001:db8::/32'])
    const inside = ['10.1.0.0', '10.1.255.255', '192.0.2.7', '2001:db8::1', '2001:db8:ffff::']
    const outside = ['10.0.255.255', '10.2.0.0', '192.0.2.8', '2001:db9::', '::1', '', 'nonsense']
    expect(inside.filter((address) => !networks?.contains(address))).toEqual([])
    expect(outside.filter((address) => networks?.contains(address))).toEqual([])
  })

  it('know when there is none', () => {
    expect(parseNetworks([])?.isEmpty).toBe(true)
    expect(parseNetworks([])?.contains('127.0.0.1')).toBe(false)
    expect(parseNetworks(['::1'])?.isEmpty).toBe(false)
  })
})

describe('an address', () => {
  it('of an IPv4 peer on a dual-stack socket is its IPv4 address', () => {
    expect(plainAddress('::ffff:192.0.2.1')).toBe('192.0.2.1')
    for (const other of ['192.0.2.1', '2001:db8::1', '::ffff:c000:201', '']) {
      expect(plainAddress(other)).toBe(other)
    }
  })
})
