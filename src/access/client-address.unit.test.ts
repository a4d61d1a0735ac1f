import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type Networks, parseNetworks } from '../lib/ip.ts'
import { clientAddress } from './client-address.ts'

const seen = (peer: string, forwarded: string | undefined, trusted: string[]) =>
  clientAddress(
    {
      socket: { remoteAddress: peer },
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    } as unknown as IncomingMessage,
    parseNetworks(trusted) as Networks,
  )

const PROXIES = ['10.0.0.0/8', 'fd00::/8']

describe('the client IP', () => {
  it('is the socket IP, whatever X-Forwarded-For says, when no proxy is trusted', () => {
    expect(seen('10.0.0.1', '203.0.113.9', [])).toBe('10.0.0.1')
  })

  it('is the socket IP when the peer is not a trusted proxy', () => {
    expect(seen('198.51.100.7', '203.0.113.9', PROXIES)).toBe('198.51.100.7')
  })

  it('is the entry that the trusted proxy appended, not a forged entry to its left', () => {
    expect(seen('10.0.0.1', '127.0.0.1, 10.9.9.9, 203.0.113.9', PROXIES)).toBe('203.0.113.9')
  })

  it('is the first untrusted IP behind several trusted proxies', () => {
    expect(seen('10.0.0.1', '1.2.3.4, 203.0.113.9, 10.0.0.3, fd00::2', PROXIES)).toBe('203.0.113.9')
  })

  it('is the farthest proxy when every hop is trusted', () => {
    expect(seen('10.0.0.1', '10.0.0.3, 10.0.0.2', PROXIES)).toBe('10.0.0.3')
  })

  it.each(['', 'unknown', '203.0.113.9, not-an-address', '203.0.113.9, '])(
    'is the proxy IP when the right-most entry is not an IP address: "%s"',
    (forwarded) => {
      expect(seen('10.0.0.1', forwarded, PROXIES)).toBe('10.0.0.1')
    },
  )

  it('is the proxy IP when the proxy sends no X-Forwarded-For', () => {
    expect(seen('10.0.0.1', undefined, PROXIES)).toBe('10.0.0.1')
  })

  it('is plain IPv4 for an IPv4 peer on a dual-stack socket', () => {
    expect(seen('::ffff:198.51.100.7', undefined, PROXIES)).toBe('198.51.100.7')
    expect(seen('::ffff:10.0.0.1', '::ffff:203.0.113.9', PROXIES)).toBe('203.0.113.9')
  })

  it('can be an IPv6 address', () => {
    expect(seen('fd00::1', '2001:db8::7', PROXIES)).toBe('2001:db8::7')
  })
})
