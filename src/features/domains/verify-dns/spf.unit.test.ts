import { describe, expect, it } from 'vitest'
import type { DnsLookups } from '../../../mail/dns.ts'
import { spfOutcome } from './spf.ts'

type Zone = Record<string, { txt?: string[]; mx?: string[]; a?: string[] }>

const lookups = (zone: Zone): DnsLookups => ({
  txt: async (name) => zone[name]?.txt ?? [],
  mx: async (name) => zone[name]?.mx ?? [],
  addresses: async (name) => zone[name]?.a ?? [],
  cname: async () => [],
  srv: async () => [],
  caa: async () => [],
  tlsa: async () => [],
})
const outcome = (zone: Zone, address = '192.0.2.1') =>
  spfOutcome('acme.test', address, lookups(zone))
const record = (text: string, more: Zone = {}): Zone => ({ 'acme.test': { txt: [text] }, ...more })

describe('SPF', () => {
  it.each([
    ['v=spf1 ip4:192.0.2.1 -all', 'authorized'],
    ['v=spf1 ip4:192.0.2.0/24 -all', 'authorized'],
    ['V=SPF1 +IP4:192.0.2.1 ~all', 'authorized'],
    ['v=spf1 ~ip4:192.0.2.1 +all', 'not-authorized'],
    ['v=spf1 ?all', 'not-authorized'],
    ['v=spf1 ip4:198.51.100.1', 'not-authorized'],
    ['v=spf1 ip4:nonsense +all', 'authorized'],
    ['v=spf1 exists:%{i}.acme.test -all', 'not-authorized'],
    ['v=spf1 unknown -all', 'not-authorized'],
    ['v=spf10 +all', 'no-record'],
  ])('evaluates %s as %s', async (text, expected) => {
    expect(await outcome(record(text))).toBe(expected)
  })

  it('evaluates a, mx, include and redirect', async () => {
    const own = { 'acme.test': { txt: ['v=spf1 a -all'], a: ['192.0.2.1'] } }
    expect(await outcome(own)).toBe('authorized')
    const mx = {
      'acme.test': { txt: ['v=spf1 mx -all'], mx: ['mx.test'] },
      'mx.test': { a: ['192.0.2.1'] },
    }
    expect(await outcome(mx)).toBe('authorized')
    const near = {
      'acme.test': { txt: ['v=spf1 a:near.test/24 -all'] },
      'near.test': { a: ['192.0.2.77'] },
    }
    expect(await outcome(near)).toBe('authorized')
    const other = { 'spf.test': { txt: ['v=spf1 ip4:192.0.2.1 -all'] } }
    expect(await outcome(record('v=spf1 include:spf.test -all', other))).toBe('authorized')
    expect(await outcome(record('v=spf1 redirect=spf.test', other))).toBe('authorized')
    expect(await outcome(record('v=spf1 -include:spf.test +all', other))).toBe('not-authorized')
  })

  it('matches IPv6 networks', async () => {
    expect(await outcome(record('v=spf1 ip6:2001:db8::/32 -all'), '2001:db8::5')).toBe('authorized')
    expect(await outcome(record('v=spf1 ip6:2001:db8::/32 -all'), '2001:db9::5')).toBe(
      'not-authorized',
    )
  })

  it('fails on several records, loops and more than ten look-ups', async () => {
    expect(await outcome({ 'acme.test': { txt: ['v=spf1 +all', 'v=spf1 -all'] } })).toBe(
      'several-records',
    )
    expect(await outcome(record('v=spf1 include:acme.test'))).toBe('loop')
    const back = { 'b.test': { txt: ['v=spf1 include:acme.test'] } }
    expect(await outcome(record('v=spf1 include:b.test', back))).toBe('loop')
    const many = Array.from({ length: 11 }, (_, index) => `include:i${index}.test`).join(' ')
    expect(await outcome(record(`v=spf1 ${many} +all`))).toBe('too-many-lookups')
  })

  it('does not report a loop for a domain that is included twice', async () => {
    const other = { 'spf.test': { txt: ['v=spf1 ip4:198.51.100.1 -all'] } }
    expect(
      await outcome(record('v=spf1 include:spf.test include:spf.test ip4:192.0.2.1', other)),
    ).toBe('authorized')
  })
})
