import { urlToHttpOptions } from 'node:url'
import type { Core } from '../../../core.ts'
import { certificateProblem } from '../../../hosting/host-certificate.repository.ts'
import { type DnsLookups, DnsUnavailable } from '../../../mail/dns.ts'
import { exchange } from '../../../outbound/exchange.ts'
import type { DomainRow } from '../domains.repository.ts'

const FETCH_MS = 10_000
const MAX_POLICY_BYTES = 64 * 1024

type Needs = Pick<Core, 'config' | 'db' | 'now' | 'outbound' | 'withDns'>

export const policyUrl = (domain: string) => `https://mta-sts.${domain}/.well-known/mta-sts.txt`

/** Everything that would make senders refuse mail under `enforce`; empty when it is safe. */
export async function enforceProblems(
  needs: Needs,
  { domain }: DomainRow,
  policy: string,
): Promise<string[]> {
  const { config, db, now } = needs
  const mailHost = config.SVC_MAIL_HOSTNAME
  const [certificate, dns, fetched] = await Promise.all([
    certificateProblem(db, mailHost, now()),
    dnsProblems(needs, domain),
    fetchProblem(needs, domain, policy),
  ])
  return [certificate, ...dns, fetched].filter((problem) => problem !== undefined)
}

async function dnsProblems({ config, withDns }: Needs, domain: string): Promise<string[]> {
  try {
    return await withDns(async (dns) => {
      const [mx, announced] = await Promise.all([
        mxProblem(dns, domain, config.SVC_MAIL_HOSTNAME),
        announcementProblem(dns, domain),
      ])
      return [mx, announced].filter((problem) => problem !== undefined)
    })
  } catch (error) {
    if (error instanceof DnsUnavailable) return [error.message]
    throw error
  }
}

/** Under `enforce` senders deliver to no host that the policy does not name. */
export async function mxProblem(
  dns: Pick<DnsLookups, 'mx'>,
  domain: string,
  mailHost: string,
): Promise<string | undefined> {
  const hosts = await dns.mx(domain)
  if (hosts.length === 0) return `${domain} has no MX record`
  const others = hosts.filter((host) => host !== mailHost.toLowerCase())
  return others.length === 0
    ? undefined
    : `the MX records of ${domain} name ${others.join(', ')} besides ${mailHost}`
}

async function announcementProblem(dns: DnsLookups, domain: string): Promise<string | undefined> {
  const name = `_mta-sts.${domain}`
  const records = (await dns.txt(name)).filter((text) => /^v=STSv1\s*(;|$)/.test(text))
  if (records.length === 1) return undefined
  return records.length === 0
    ? `there is no record ${name}`
    : `there is more than one record ${name}; senders then ignore all of them`
}

/** Fetches the policy as senders do: over HTTPS, with a valid certificate, without redirects. */
async function fetchProblem(
  { outbound }: Pick<Needs, 'outbound'>,
  domain: string,
  policy: string,
): Promise<string | undefined> {
  const url = policyUrl(domain)
  try {
    const target = { ...urlToHttpOptions(new URL(url)), lookup: outbound.lookup }
    const limits = { timeoutMs: FETCH_MS, maxBytes: MAX_POLICY_BYTES }
    const { status, text } = await exchange(target, limits)
    if (status !== 200) return `${url} answers with status ${status}`
    return text === policy ? undefined : `${url} shows another policy than this host`
  } catch (error) {
    return `${url} cannot be fetched: ${(error as Error).message}`
  }
}
