import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type Networks, parseNetworks } from '../lib/cidr.ts'
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

describe('the address of a client', () => {
  it('is the socket, whatever X-Forwarded-For says, when no proxy is trusted', () => {
    expect(seen('10.0.0.1', '203.0.113.9', [])).toBe('10.0.0.1')
  })

  it('is the socket when the peer is not one of the trusted proxies', () => {
    expect(seen('198.51.100.7', '203.0.113.9', PROXIES)).toBe('198.51.100.7')
  })

  it('is the entry the proxy wrote, not the ones a client forged to the left of it', () => {
    expect(seen('10.0.0.1', '127.0.0.1, 10.9.9.9, 203.0.113.9', PROXIES)).toBe('203.0.113.9')
  })

  it('is found behind several trusted hops', () => {
    expect(seen('10.0.0.1', '1.2.3.4, 203.0.113.9, 10.0.0.3, fd00::2', PROXIES)).toBe('203.0.113.9')
  })

  it('is the farthest proxy when every hop is trusted', () => {
    expect(seen('10.0.0.1', '10.0.0.3, 10.0.0.2', PROXIES)).toBe('10.0.0.3')
  })

  it.each(['', 'unknown', '203.0.113.9, not-an-address', '203.0.113.9, '])(
    'stays with the proxy when the right-most entry is no address: "%s"',
    (forwarded) => {
      expect(seen('10.0.0.1', forwarded, PROXIES)).toBe('10.0.0.1')
    },
  )

  it('is the proxy when it forwards nothing', () => {
    expect(seen('10.0.0.1', undefined, PROXIES)).toBe('10.0.0.1')
  })

  it('is written the same way whether IPv4 arrives on an IPv4 or on a dual-stack socket', () => {
    expect(seen('::ffff:198.51.100.7', undefined, PROXIES)).toBe('198.51.100.7')
    expect(seen('::ffff:10.0.0.1', '::ffff:203.0.113.9', PROXIES)).toBe('203.0.113.9')
  })

  it('may be IPv6', () => {
    expect(seen('fd00::1', '2001:db8::7', PROXIES)).toBe('2001:db8::7')
  })
})
