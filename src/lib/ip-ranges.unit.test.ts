import { expect, it } from 'vitest'
import { isLoopback, specialRange } from './ip-ranges.ts'

it.each([
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['10.0.0.1', 'private'],
  ['100.64.0.1', 'shared (CGNAT)'],
  ['100.100.100.200', 'shared (CGNAT)'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['168.63.129.16', 'metadata'],
  ['169.254.169.254', 'link-local'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.192', 'reserved'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', 'tunnelled'],
  ['192.168.1.1', 'private'],
  ['198.18.0.1', 'benchmarking'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'reserved'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['::127.0.0.1', 'reserved'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::FFFF:a9fe:a9fe', 'link-local'],
  ['::ffff:0:127.0.0.1', 'reserved'],
  ['64:ff9b::127.0.0.1', 'loopback'],
  ['64:ff9b::a00:1', 'private'],
  ['64:ff9b:1::a00:1', 'reserved'],
  ['100::1', 'reserved'],
  ['2001::1', 'tunnelled'],
  ['2001:2::1', 'reserved'],
  ['2001:db8::1', 'documentation'],
  ['2002:7f00:1::', 'tunnelled'],
  ['3fff::1', 'documentation'],
  ['5f00::1', 'reserved'],
  ['fc00::1', 'private'],
  ['fd00:ec2::254', 'private'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['fec0::1', 'private'],
  ['ff02::1', 'multicast'],
  ['not an address', 'invalid'],
])('%s is in the range "%s"', (ip, range) => {
  expect(specialRange(ip)).toBe(range)
})

it.each([
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.1',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2001:200::1',
  '2600::1',
  '2a00:1450::1',
])('%s is public', (ip) => {
  expect(specialRange(ip)).toBeUndefined()
})

it.each(['localhost', '127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])(
  '%s is loopback',
  (host) => {
    expect(isLoopback(host)).toBe(true)
  },
)

it.each(['127.example.com', 'localhost.example.com', '10.0.0.1', '::2', ''])(
  '%j is not loopback',
  (host) => {
    expect(isLoopback(host)).toBe(false)
  },
)
