import type { DnsRecord } from '../dns-records.ts'

/** A character string of DNS has at most 255 octets; longer text is several strings (RFC 1035 3.3). */
const STRING = /.{1,255}/gs

/** The records in the format that DNS hosts import (RFC 1035 5). */
export function zoneFile(domain: string, records: readonly DnsRecord[]): string {
  const lines = records.map(
    (record) => `${record.name}.\t${record.ttl}\tIN\t${record.type}\t${dataOf(record)}`,
  )
  return `$ORIGIN ${domain}.\n${lines.join('\n')}\n`
}

function dataOf({ type, value, priority }: DnsRecord): string {
  if (type === 'TXT') return (value.match(STRING) ?? ['']).map(quoted).join(' ')
  return priority === null ? value : `${priority} ${value}`
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`
