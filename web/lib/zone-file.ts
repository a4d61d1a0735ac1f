import type { DnsRecord } from '../api/schema.ts'

/** A character string of DNS holds at most 255 octets; longer text is several strings (RFC 1035 3.3). */
const MAX_OCTETS = 255

/** The records in the format that DNS hosts import. Names are relative to the domain. */
export function zoneFile(domain: string, records: readonly DnsRecord[]): string {
  const lines = records.map(
    (record) => `${relativeName(record.name, domain)}\t3600\tIN\t${record.type}\t${dataOf(record)}`,
  )
  return `$ORIGIN ${domain}.\n${lines.join('\n')}\n`
}

function relativeName(name: string, domain: string): string {
  if (name === domain) return '@'
  return name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : `${name}.`
}

function dataOf({ type, value, priority }: DnsRecord): string {
  if (type === 'TXT') return quoted(value)
  return priority === null ? value : `${priority} ${value}`
}

const quoted = (text: string): string =>
  (text.match(new RegExp(`.{1,${MAX_OCTETS}}`, 'gs')) ?? [''])
    .map((part) => `"${part.replace(/["\\]/g, '\\$&')}"`)
    .join(' ')
