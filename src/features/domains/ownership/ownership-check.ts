import { type DnsLookups, DnsUnavailable } from '../../../mail/dns.ts'
import type { Check } from '../verify-dns/dns-check.ts'
import { ownershipName, ownershipValue } from './ownership.rules.ts'

/** Looks for the token of the organization in the DNS of the domain. */
export async function checkOwnership(
  domain: string,
  token: string,
  dns: DnsLookups,
): Promise<Check> {
  const record = { type: 'TXT', name: ownershipName(domain), expected: ownershipValue(token) }
  try {
    const values = await dns.txt(record.name)
    const isFound = values.some((value) => value.trim() === record.expected)
    return {
      ...record,
      status: isFound ? 'pass' : 'fail',
      found: isFound,
      actual: values.join(' | ') || null,
      ...(!isFound && {
        message: `Publish a TXT record ${record.name} with the value ${record.expected}`,
      }),
    }
  } catch (error) {
    if (error instanceof DnsUnavailable)
      return { ...record, status: 'fail', message: error.message, unanswered: true }
    throw error
  }
}

/** The check of a domain that was proven before: the record may be gone. */
export const provenCheck = (domain: string, token: string): Check => ({
  type: 'TXT',
  name: ownershipName(domain),
  status: 'pass',
  expected: ownershipValue(token),
})
