import { type DnsLookups, DnsUnavailable } from '../../../mail/dns.ts'
import type { OUTCOMES } from '../dns-history/record-check.ts'
import type { DnsRecord } from '../dns-records.ts'
import type { Check } from '../verify-dns/dns-check.ts'

export interface Comparison {
  status: (typeof OUTCOMES)[number]
  /** The values in DNS under this name and type; for a CNAME also addresses. */
  found: string[]
}

/** The result of verify-dns for a record; undefined for a record without a check. */
export function ofChecks(
  { type, name }: DnsRecord,
  checks: readonly Check[],
): Comparison | undefined {
  const check = checks.find((one) => one.type === type && one.name === name)
  return check && ofCheck(check)
}

/** Compares what DNS has with a record. */
export async function compare(record: DnsRecord, dns: DnsLookups): Promise<Comparison> {
  try {
    const found = await lookUp(record, dns)
    if (found.some((one) => isSame(record, one))) return { status: 'pass', found }
    const isAlias = record.type === 'CNAME' && (await leadsToTarget(record, found, dns))
    if (isAlias) return { status: 'pass', found }
    return { status: found.length === 0 ? 'missing' : 'different', found }
  } catch (error) {
    if (error instanceof DnsUnavailable) return { status: 'unknown', found: [] }
    throw error
  }
}

function ofCheck({ status, actual, unanswered }: Check): Comparison {
  const found = actual ? [actual] : []
  if (unanswered) return { status: 'unknown', found }
  if (status === 'pass') return { status, found }
  return { status: actual ? 'different' : 'missing', found }
}

async function lookUp({ type, name, value }: DnsRecord, dns: DnsLookups): Promise<string[]> {
  switch (type) {
    case 'MX':
      return dns.mx(name)
    case 'CNAME': {
      const aliases = await dns.cname(name)
      return aliases.length > 0 ? aliases : dns.addresses(name)
    }
    case 'SRV':
      return dns.srv(name)
    case 'CAA':
      return dns.caa(name)
    case 'TLSA':
      return dns.tlsa(name)
    case 'TXT': {
      // Other records under the same name are none of our business.
      const kind = value.split(/[=;]/, 2).join('=').toLowerCase()
      return (await dns.txt(name)).filter((text) => text.toLowerCase().startsWith(kind))
    }
  }
}

function isSame({ type, value }: DnsRecord, found: string): boolean {
  switch (type) {
    case 'SRV': {
      // Priority and weight are the choice of the domain.
      const serverOf = (text: string) => text.split(' ').slice(-2).join(' ')
      return serverOf(bare(value)) === serverOf(found)
    }
    case 'TXT':
      return tagsOf(value).every((tag) => tagsOf(found).includes(tag))
    case 'CAA':
      return value.split(' ').slice(1).join(' ') === found.split(' ').slice(1).join(' ')
    default:
      return bare(value) === found
  }
}

const bare = (value: string) => value.toLowerCase().replace(/\.$/, '')

const tagsOf = (text: string): string[] =>
  text
    .split(/[;,]/)
    .map((tag) => tag.replace(/\s/g, ''))
    .filter((tag) => tag !== '')

/** DNS hosts that know no CNAME, or not beside other records, have addresses in its place. */
async function leadsToTarget({ value }: DnsRecord, found: string[], dns: DnsLookups) {
  if (found.length === 0) return false
  const target = await dns.addresses(bare(value))
  return found.every((address) => target.includes(address))
}
