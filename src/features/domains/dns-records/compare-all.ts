import type { Core } from '../../../core.ts'
import type { DnsRecord } from '../dns-records.ts'
import type { Check } from '../verify-dns/dns-check.ts'
import { type Comparison, compare, ofChecks } from './compare.ts'

type Needs = Pick<Core, 'withDns'>

/** Compares every record with DNS; `checks` are the results that are already there. */
export async function compareAll(
  { withDns }: Needs,
  records: readonly DnsRecord[],
  checks: readonly Check[],
): Promise<(DnsRecord & Comparison)[]> {
  // Silent resolvers would make the caller wait a second time.
  if (checks.some(({ unanswered }) => unanswered)) {
    return records.map((record) => ({ ...record, ...(ofChecks(record, checks) ?? UNKNOWN) }))
  }
  return withDns((dns) =>
    Promise.all(
      records.map(async (record) => ({
        ...record,
        ...(ofChecks(record, checks) ?? (await compare(record, dns))),
      })),
    ),
  )
}

const UNKNOWN: Comparison = { status: 'unknown', found: [] }
