/** What a domain must publish so that its mail arrives and is believed. */
export interface DnsRecord {
  type: string
  name: string
  value: string
  priority: number | null
  description: string
}

export interface DkimKey {
  selector: string
  public_key: string
}

export const dkimName = (domain: string, selector: string) => `${selector}._domainkey.${domain}`
export const dkimValue = (publicKey: string) => `v=DKIM1; k=rsa; p=${publicKey}`
export const spfHost = (mailHost: string) => `spf.${mailHost}`

export function dnsRecords(
  domain: string,
  mailHost: string,
  key: DkimKey | undefined,
): DnsRecord[] {
  const records: DnsRecord[] = [
    {
      type: 'MX',
      name: domain,
      value: `${mailHost}.`,
      priority: 10,
      description: 'Mail for the domain is delivered to this host',
    },
    {
      type: 'TXT',
      name: domain,
      value: `v=spf1 include:${spfHost(mailHost)} ~all`,
      priority: null,
      description: 'SPF: this host may send mail for the domain',
    },
    {
      type: 'TXT',
      name: `_dmarc.${domain}`,
      value: `v=DMARC1; p=quarantine; rua=mailto:dmarc@${domain}`,
      priority: null,
      description: 'DMARC: what receivers do with mail that fails both checks',
    },
  ]
  if (key) {
    records.push({
      type: 'TXT',
      name: dkimName(domain, key.selector),
      value: dkimValue(key.public_key),
      priority: null,
      description: 'DKIM: the key that outgoing mail is signed with',
    })
  }
  return records
}
