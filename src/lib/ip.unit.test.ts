import { describe, expect, it } from 'vitest'
import {
  embeddedIpv4,
  isIpAddress,
  networkOf,
  normalizeIp,
  normalizeNetwork,
  parseNetworks,
  reversedLabels,
  throttleKey,
} from './ip.ts'

describe('parseNetworks', () => {
  it.each([
    [''],
    ['10.0.0.0/33'],
    ['10.0.0.0/'],
    ['10.0.0.0/-1'],
    ['10.0.0.0/8/8'],
    ['10.0.0/8'],
    ['10.0.0.256'],
    ['010.0.0.1'],
    ['0x7f.1'],
    ['2130706433'],
    ['::1/129'],
    ['fe80::1%eth0'],
    ['example.com'],
    ['10.0.0.0/8 '],
    ['10.0.0.0/1e1'],
  ])('rejects %j, even beside valid entries', (entry) => {
    expect(parseNetworks(['192.0.2.1', entry])).toBeUndefined()
  })

  it('contains the first and the last IP address of each network, and nothing beside', () => {
    const networks = parseNetworks(['10.1.0.0/16', '192.0.2.7', '2001:db8::/32'])
    const inside = ['10.1.0.0', '10.1.255.255', '192.0.2.7', '2001:db8::1', '2001:db8:ffff::']
    const outside = ['10.0.255.255', '10.2.0.0', '192.0.2.8', '2001:db9::', '::1', '', 'nonsense']
    expect(inside.filter((ip) => !networks?.contains(ip))).toEqual([])
    expect(outside.filter((ip) => networks?.contains(ip))).toEqual([])
  })

  it('treats IPv4 and IPv4-mapped IPv6 as equal', () => {
    expect(parseNetworks(['10.1.0.0/16'])?.contains('::ffff:10.1.2.3')).toBe(true)
    expect(parseNetworks(['::ffff:10.1.0.0/112'])?.contains('10.1.2.3')).toBe(true)
    expect(parseNetworks(['::/0'])?.contains('10.1.2.3')).toBe(true)
    expect(parseNetworks(['0.0.0.0/0'])?.contains('::1')).toBe(false)
  })

  it('ignores the zone of a link-local IP address', () => {
    expect(parseNetworks(['fe80::/10'])?.contains('fe80::1%eth0.100')).toBe(true)
  })

  it('reports an empty set, which contains nothing', () => {
    expect(parseNetworks([])?.isEmpty).toBe(true)
    expect(parseNetworks([])?.contains('127.0.0.1')).toBe(false)
    expect(parseNetworks(['::1'])?.isEmpty).toBe(false)
  })
})

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
])('normalizes the network %s to %s', (entry, network) => {
  expect(normalizeNetwork(entry)).toBe(network)
})

it.each([
  ['2001:0DB8::0:7', '2001:db8::7'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['unknown', 'unknown'],
  ['', ''],
])('normalizes the IP address %j to %j', (text, ip) => {
  expect(normalizeIp(text)).toBe(ip)
})

it.each([
  ['192.0.2.1', true],
  ['2001:db8::1', true],
  ['fe80::1%eth0', false],
  ['192.0.2', false],
  ['192.0.2.1/32', false],
])('isIpAddress(%j) is %s', (text, expected) => {
  expect(isIpAddress(text)).toBe(expected)
})

it.each([
  ['192.0.2.77', '192.0.2.0'],
  ['::ffff:192.0.2.77', '192.0.2.0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['fe80::1%eth0', 'fe80::'],
  ['unknown', 'unknown'],
])('shortens %s to the network %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network)
})

it.each([
  ['192.0.2.77', '192.0.2.77'],
  ['::ffff:192.0.2.77', '192.0.2.77'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['unknown', 'unknown'],
])('counts failures of %s by %s', (ip, key) => {
  expect(throttleKey(ip)).toBe(key)
})

it.each([
  ['192.0.2.77', '77.2.0.192'],
  ['2001:db8::25', `5.2.0.0.${'0.'.repeat(20)}8.b.d.0.1.0.0.2`],
])('reverses %s for a DNS block list', (ip, labels) => {
  expect(reversedLabels(ip)).toBe(labels)
})

it.each([
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['64:ff9b::a00:1', '10.0.0.1'],
  ['64:ff9b:1::a00:1', undefined],
  ['::10.0.0.1', undefined],
  ['10.0.0.1', undefined],
])('finds the IPv4 address inside %s: %s', (ip, ipv4) => {
  expect(embeddedIpv4(ip)).toBe(ipv4)
})
