import { describe, expect, it } from 'vitest'
import { parseNetworks, plainAddress, plainNetwork } from './cidr.ts'

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
    for (const other of ['192.0.2.1', '2001:db8::1', '']) {
      expect(plainAddress(other)).toBe(other)
    }
  })
})

describe('one way to write a network', () => {
  it.each([
    ['10.0.0.5/24', '10.0.0.0/24'],
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7/32', '192.0.2.7'],
    ['192.0.2.7/0', '0.0.0.0/0'],
    ['172.31.9.9/12', '172.16.0.0/12'],
    ['2001:DB8:0:0::7/64', '2001:db8::/64'],
    ['2001:db8::ff00:7/121', '2001:db8::ff00:0/121'],
    ['2001:db8::1/128', '2001:db8::1'],
    ['::/0', '::/0'],
    ['::ffff:192.0.2.9/120', '192.0.2.0/24'],
    ['::FFFF:C000:0209', '192.0.2.9'],
    ['::ffff:192.0.2.9/90', '::ffc0:0:0/90'],
    ['fe80::1%eth0/64', undefined],
    ['192.0.2.0/33', undefined],
    ['192.0.2.0/024', undefined],
    ['nonsense', undefined],
  ])('%s is %s', (entry, written) => {
    expect(plainNetwork(entry)).toBe(written)
  })

  it.each([
    ['2001:0DB8::0:7', '2001:db8::7'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['192.0.2.1', '192.0.2.1'],
    ['unknown', 'unknown'],
  ])('the address %s is %s', (address, written) => {
    expect(plainAddress(address)).toBe(written)
  })
})
