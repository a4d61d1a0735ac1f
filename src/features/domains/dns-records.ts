import { ownershipName, ownershipValue } from './ownership/ownership.rules.ts'

const TTL = 3600

/** A DNS record that a well-run domain publishes. */
export interface DnsRecord {
  type: 'MX' | 'TXT' | 'CNAME' | 'SRV' | 'CAA' | 'TLSA'
  name: string
  value: string
  priority: number | null
  ttl: number
  /** Mail suffers without it; the others help mail programs and other hosts. */
  required: boolean
  description: string
}

export interface DkimKey {
  selector: string
  public_key: string
}

/** The input for the records of a domain. */
export interface Publication {
  domain: string
  mailHost: string
  webHost: string
  token: string
  /** The key that signs; undefined while DKIM is off. */
  dkimKey: DkimKey | undefined
  /** Keys that are about to sign or have signed until lately. */
  otherKeys: readonly DkimKey[]
  policyId: string
  /** The CA that obtains certificates for this host, as CAA records name it. */
  ca: string | undefined
  offersDav: boolean
  offersKeys: boolean
  offersJmap: boolean
}

export const dkimName = (domain: string, selector: string) => `${selector}._domainkey.${domain}`
export const dkimValue = (publicKey: string) => `v=DKIM1; k=rsa; p=${publicKey}`
export const spfHost = (mailHost: string) => `spf.${mailHost}`
export const tlsReportUrl = (webHost: string) => `https://${webHost}/tls-rpt`

type Fields = Pick<DnsRecord, 'type' | 'name' | 'value' | 'description'>
const needed = (fields: Fields, priority: number | null = null): DnsRecord => ({
  ...fields,
  priority,
  ttl: TTL,
  required: true,
})
const useful = (fields: Fields, priority: number | null = null): DnsRecord => ({
  ...needed(fields, priority),
  required: false,
})

/** Ordered by importance, except that the proof of the ownership comes last. */
export const dnsRecords = (publication: Publication): DnsRecord[] => [
  ...mailRecords(publication),
  ...transportRecords(publication),
  ...clientRecords(publication),
  needed({
    type: 'TXT',
    name: ownershipName(publication.domain),
    value: ownershipValue(publication.token),
    description: 'Ownership: proves that the domain belongs to the organization',
  }),
]

const mailRecords = ({ domain, mailHost, dkimKey, otherKeys }: Publication): DnsRecord[] => [
  needed(
    {
      type: 'MX',
      name: domain,
      value: `${mailHost}.`,
      description: 'Mail for the domain is delivered to this host',
    },
    10,
  ),
  needed({
    type: 'TXT',
    name: domain,
    value: `v=spf1 include:${spfHost(mailHost)} ~all`,
    description: 'SPF: this host may send mail for the domain',
  }),
  needed({
    type: 'TXT',
    name: `_dmarc.${domain}`,
    value: `v=DMARC1; p=quarantine; rua=mailto:dmarc@${domain}`,
    description: 'DMARC: what receivers do with mail that fails both checks',
  }),
  ...(dkimKey
    ? [needed(dkimRecord(domain, dkimKey, 'the key that outgoing mail is signed with'))]
    : []),
  ...otherKeys.map((key) =>
    useful(dkimRecord(domain, key, 'a key that signs next or has signed until lately')),
  ),
]

const dkimRecord = (domain: string, key: DkimKey, what: string): Fields => ({
  type: 'TXT',
  name: dkimName(domain, key.selector),
  value: dkimValue(key.public_key),
  description: `DKIM: ${what}`,
})

/** Records about TLS of incoming mail and about certificate authorities. */
const transportRecords = ({ domain, webHost, policyId, ca }: Publication): DnsRecord[] => [
  useful({
    type: 'TXT',
    name: `_mta-sts.${domain}`,
    value: `v=STSv1; id=${policyId};`,
    description: 'MTA-STS: other hosts fetch the policy again when this id changes',
  }),
  useful({
    type: 'CNAME',
    name: `mta-sts.${domain}`,
    value: `${webHost}.`,
    description: 'MTA-STS: where the policy is',
  }),
  useful({
    type: 'TXT',
    name: `_smtp._tls.${domain}`,
    value: `v=TLSRPTv1; rua=${tlsReportUrl(webHost)}`,
    description: 'TLS-RPT: where other hosts report problems with TLS',
  }),
  ...(ca === undefined
    ? []
    : [
        useful({
          type: 'CAA',
          name: domain,
          value: `0 issue "${ca}"`,
          description: 'CAA: this CA may issue certificates; add those of your other servers too',
        }),
      ]),
]

/** Records that lead mail programs to their settings and servers. */
const clientRecords = ({
  domain,
  mailHost,
  webHost,
  offersDav,
  offersJmap,
  offersKeys,
}: Publication): DnsRecord[] => [
  useful({
    type: 'CNAME',
    name: `autoconfig.${domain}`,
    value: `${webHost}.`,
    description: 'Settings for Thunderbird and other programs',
  }),
  useful({
    type: 'CNAME',
    name: `autodiscover.${domain}`,
    value: `${webHost}.`,
    description: 'Settings for Outlook',
  }),
  service(domain, 'autodiscover', [0, 443], webHost, 'Settings for Outlook'),
  service(domain, 'imaps', [0, 993], mailHost, 'IMAP'),
  service(domain, 'submissions', [0, 465], mailHost, 'Sending mail with TLS'),
  service(domain, 'submission', [10, 587], mailHost, 'Sending mail with STARTTLS'),
  service(domain, 'pop3s', [10, 995], mailHost, 'POP3'),
  ...(offersDav ? davRecords(domain, webHost) : []),
  ...(offersJmap ? [service(domain, 'jmap', [0, 443], webHost, 'JMAP')] : []),
  ...(offersKeys
    ? [
        useful({
          type: 'CNAME',
          name: `openpgpkey.${domain}`,
          value: `${webHost}.`,
          description: 'OpenPGP: where programs find the public keys of mailboxes',
        }),
      ]
    : []),
]

const davRecords = (domain: string, webHost: string): DnsRecord[] =>
  [
    { name: 'caldavs', what: 'Calendars' },
    { name: 'carddavs', what: 'Contacts' },
  ].flatMap(({ name, what }) => [
    service(domain, name, [0, 443], webHost, what),
    useful({
      type: 'TXT',
      name: `_${name}._tcp.${domain}`,
      value: 'path=/dav/',
      description: `${what}: the path on the server`,
    }),
  ])

const service = (
  domain: string,
  name: string,
  [priority, port]: [priority: number, port: number],
  target: string,
  description: string,
): DnsRecord =>
  useful(
    { type: 'SRV', name: `_${name}._tcp.${domain}`, value: `1 ${port} ${target}.`, description },
    priority,
  )

/** Records of the mail host itself, which its operator publishes. */
export const tlsaRecords = (mailHost: string, keyHashes: readonly string[]): DnsRecord[] =>
  keyHashes.map((hash, index) =>
    useful({
      type: 'TLSA',
      name: `_25._tcp.${mailHost}`,
      value: `3 1 1 ${hash}`,
      description: `DANE: ${index === 0 ? 'the present key' : 'the next key'} of the mail host; only in a zone that is signed with DNSSEC`,
    }),
  )
