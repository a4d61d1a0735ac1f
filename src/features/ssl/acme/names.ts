import type { Core } from '../../../core.ts'
import { type Networks, parseNetworks, plainAddress } from '../../../lib/cidr.ts'
import { hosted } from './names.repository.ts'

const HOSTS = ['mail', 'smtp', 'imap']

type Needs = Pick<Core, 'config' | 'db' | 'withDns'>

/**
 * The names a certificate of this domain is for: its own, and those of its mail servers. Never a
 * name that is another domain here, which may be another tenant's; and none that leads elsewhere,
 * because one bad name fails the whole order.
 */
export async function namesOf({ config, db, withDns }: Needs, domain: string): Promise<string[]> {
  const isMailHost = domain === config.SVC_MAIL_HOSTNAME
  const candidates = [domain, ...(isMailHost ? [] : HOSTS.map((host) => `${host}.${domain}`))]
  const others = (await hosted(db, candidates)).filter((name) => name !== domain)
  const here = parseNetworks(config.CERT_SERVER_IPS) as Networks
  return withDns(async (dns) => {
    const names: string[] = []
    for (const name of candidates.filter((candidate) => !others.includes(candidate))) {
      const addresses = await dns.addresses(name)
      const leadsHere =
        here.isEmpty || addresses.every((address) => here.contains(plainAddress(address)))
      if (addresses.length > 0 && leadsHere) names.push(name)
    }
    return names
  })
}
