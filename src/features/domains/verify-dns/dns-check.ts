import { type DnsLookups, DnsUnavailable } from '../../../mail/dns.ts'
import { type DkimKey, dkimName, dkimValue, spfHost } from '../dns-records.ts'
import { spfOutcome } from './spf.ts'

/** The expected and the actual value of one record, with a hint how to fix it. */
export interface Check {
  status: 'pass' | 'fail'
  type: string
  name: string
  expected?: string
  actual?: string | null
  found?: boolean
  policy?: string
  message?: string
  /** DNS did not answer, so the result says nothing about the record. Not part of the API. */
  unanswered?: true
}

interface Expectation {
  domain: string
  mailHost: string
  dkimEnabled: boolean
  dkimKey: DkimKey | undefined
  dkimSelector: string
}

export async function checkDns(expected: Expectation, dns: DnsLookups) {
  const [mx, spf, dkim, dmarc] = await Promise.all([
    attempt('MX', expected.domain, () => checkMx(expected, dns)),
    attempt('TXT', expected.domain, () => checkSpf(expected, dns)),
    attempt('TXT', dkimName(expected.domain, expected.dkimSelector), () =>
      checkDkim(expected, dns),
    ),
    attempt('TXT', `_dmarc.${expected.domain}`, () => checkDmarc(expected, dns)),
  ])
  return { mx, spf, dkim, dmarc }
}

async function attempt(
  type: string,
  name: string,
  check: () => Promise<Omit<Check, 'type' | 'name'>>,
): Promise<Check> {
  try {
    return { type, name, ...(await check()) }
  } catch (error) {
    if (error instanceof DnsUnavailable)
      return { type, name, status: 'fail', message: error.message, unanswered: true }
    throw error
  }
}

async function checkMx(
  { domain, mailHost }: Expectation,
  dns: DnsLookups,
): Promise<Omit<Check, 'type' | 'name'>> {
  const hosts = await dns.mx(domain)
  const passes = hosts.includes(mailHost.toLowerCase())
  return {
    status: passes ? 'pass' : 'fail',
    expected: mailHost,
    actual: hosts.length === 0 ? null : hosts.join(', '),
    ...(!passes && {
      message: `Publish an MX record for ${domain} with priority 10 and value ${mailHost}.`,
    }),
  }
}

async function checkSpf(
  { domain, mailHost }: Expectation,
  dns: DnsLookups,
): Promise<Omit<Check, 'type' | 'name'>> {
  const records = (await dns.txt(domain)).filter((record) => /^v=spf1(\s|$)/i.test(record))
  const include = `include:${spfHost(mailHost)}`
  const values = {
    found: records.length > 0,
    expected: include,
    actual: records.length === 0 ? null : records.join(' | '),
  }
  const problem = await spfProblem(domain, mailHost, include, records, dns)
  return problem === undefined
    ? { status: 'pass', ...values }
    : { status: 'fail', ...values, message: problem }
}

async function spfProblem(
  domain: string,
  mailHost: string,
  include: string,
  records: string[],
  dns: DnsLookups,
): Promise<string | undefined> {
  if (records.length === 0) return `No SPF record is published; publish v=spf1 ${include} ~all`
  if (records.length > 1)
    return 'There is more than one SPF record; receivers then ignore all of them'
  const ips = await dns.addresses(mailHost)
  if (ips.length === 0) {
    // Without an IP address of the mail host SPF cannot be evaluated, so compare the text.
    return records[0]?.toLowerCase().split(/\s+/).includes(include)
      ? undefined
      : `The SPF record does not contain ${include}`
  }
  for (const ip of ips) {
    const outcome = await spfOutcome(domain, ip, dns)
    if (outcome === 'authorized') continue
    if (outcome === 'too-many-lookups')
      return 'The SPF record needs more than 10 DNS look-ups; receivers give up'
    if (outcome === 'loop') return 'The SPF record includes itself'
    if (outcome === 'several-records') return 'An included domain has more than one SPF record'
    return `The SPF record does not let ${mailHost} (${ip}) send; add ${include}`
  }
  return undefined
}

async function checkDkim(
  { domain, dkimEnabled, dkimKey, dkimSelector }: Expectation,
  dns: DnsLookups,
): Promise<Omit<Check, 'type' | 'name'>> {
  if (!dkimEnabled) return { status: 'pass', message: 'DKIM is turned off for this domain' }
  if (!dkimKey)
    return {
      status: 'fail',
      found: false,
      message: 'This domain has no DKIM key yet; rotate to make one',
    }
  const expected = dkimValue(dkimKey.public_key)
  const records = (await dns.txt(dkimName(domain, dkimSelector))).filter((record) =>
    /v=DKIM1/i.test(record),
  )
  if (records.length === 0)
    return {
      status: 'fail',
      found: false,
      expected,
      actual: null,
      message: 'DKIM record not found',
    }
  const matching = records.some((record) => publicKeyOf(record) === dkimKey.public_key)
  return {
    status: matching ? 'pass' : 'fail',
    found: true,
    expected,
    actual: records.join(' | '),
    ...(!matching && { message: 'The published DKIM key is not the one this domain signs with' }),
  }
}

/** Checks that DNS returns the record of this key. */
export async function dkimVisible(domain: string, key: DkimKey, dns: DnsLookups): Promise<boolean> {
  const records = await dns.txt(dkimName(domain, key.selector))
  return records.some((record) => publicKeyOf(record) === key.public_key)
}

const publicKeyOf = (record: string): string | undefined =>
  /(?:^|;)\s*p=([^;]*)/.exec(record)?.[1]?.replace(/\s/g, '')

async function checkDmarc(
  { domain }: Expectation,
  dns: DnsLookups,
): Promise<Omit<Check, 'type' | 'name'>> {
  const expected = `v=DMARC1; p=quarantine; rua=mailto:dmarc@${domain}`
  const records = (await dns.txt(`_dmarc.${domain}`)).filter((record) => /^v=DMARC1/i.test(record))
  if (records.length !== 1) {
    const message =
      records.length === 0 ? 'DMARC record not found' : 'There is more than one DMARC record'
    return {
      status: 'fail',
      found: records.length > 0,
      expected,
      actual: records.join(' | ') || null,
      message,
    }
  }
  const policy = /(?:^|;)\s*p=(\w+)/i.exec(records[0] as string)?.[1]?.toLowerCase() ?? 'none'
  return { status: 'pass', found: true, policy, expected, actual: records[0] as string }
}
