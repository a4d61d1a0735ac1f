import type { Core } from '../../../core.ts'
import { type Networks, normalizeIp, parseNetworks } from '../../../lib/ip.ts'
import { hostedDomains } from '../certificates.repository.ts'
import { challengeRecord } from './dns-hook.ts'

// Mail servers by the name of the domain, and the web names of the services autoconfig and encryption.
const HOSTS = ['mail', 'smtp', 'imap', 'autoconfig', 'autodiscover', 'mta-sts', 'openpgpkey']

type Needs = Pick<Core, 'config' | 'db' | 'withDns'>

export interface CertificateNames {
  names: string[]
  /** The DNS records that prove names; a name without one is proven over HTTP. */
  records: Map<string, string>
}

/**
 * The names for the certificate of a domain: the domain, its mail hosts and its names for mail programs. A name that is itself a
 * hosted domain is left out, because it may belong to another tenant. A name without a challenge
 * record of ours that resolves to another server is left out too, because one bad name fails the
 * whole order.
 */
export async function namesOf(
  { config, db, withDns }: Needs,
  domain: string,
): Promise<CertificateNames> {
  const isMailHost = domain === config.SVC_MAIL_HOSTNAME
  const candidates = [domain, ...(isMailHost ? [] : HOSTS.map((host) => `${host}.${domain}`))]
  const others = (await hostedDomains(db, candidates)).filter((name) => name !== domain)
  const here = parseNetworks(config.CERT_SERVER_IPS) as Networks
  return withDns(async (dns) => {
    const names: string[] = []
    const records = new Map<string, string>()
    for (const name of candidates.filter((candidate) => !others.includes(candidate))) {
      const record = await challengeRecord(config, dns, name)
      if (record !== undefined) records.set(name, record)
      const ips = record === undefined ? await dns.addresses(name) : []
      const isHere = here.isEmpty || ips.every((ip) => here.contains(normalizeIp(ip)))
      if (record !== undefined || (ips.length > 0 && isHere)) names.push(name)
    }
    return { names, records }
  })
}
