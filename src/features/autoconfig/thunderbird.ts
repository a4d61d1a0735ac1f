import { domainToUnicode } from 'node:url'
import { CLIENT_SERVERS } from '../../hosting/client-settings.ts'
import { escapeXml, XML_HEAD } from '../../lib/xml.ts'

interface Settings {
  domain: string
  mailHost: string
  /** The root of calendars and contacts; undefined while they are not offered. */
  davUrl: string | undefined
}

/**
 * The settings file of Thunderbird, which other programs read too. OAuth2 is not listed: Thunderbird
 * accepts it only for providers that are compiled in, and skips an entry without another method.
 */
export function thunderbirdConfig({ domain, mailHost, davUrl }: Settings): string {
  const name = escapeXml(domainToUnicode(domain))
  const servers = CLIENT_SERVERS.map(({ protocol, port, encryption }) => {
    const element = protocol === 'smtp' ? 'outgoingServer' : 'incomingServer'
    return `    <${element} type="${protocol}">
      <hostname>${escapeXml(mailHost)}</hostname>
      <port>${port}</port>
      <socketType>${encryption === 'tls' ? 'SSL' : 'STARTTLS'}</socketType>
      <username>%EMAILADDRESS%</username>
      <authentication>password-cleartext</authentication>
    </${element}>`
  })
  const dav =
    davUrl === undefined ? [] : [davElement('addressBook', davUrl), davElement('calendar', davUrl)]
  return `${XML_HEAD}<clientConfig version="1.1">
  <emailProvider id="${escapeXml(domain)}">
    <domain>${escapeXml(domain)}</domain>
    <displayName>${name}</displayName>
    <displayShortName>${name}</displayShortName>
${[...servers, ...dav].join('\n')}
  </emailProvider>
</clientConfig>
`
}

const davElement = (element: 'addressBook' | 'calendar', url: string) =>
  `    <${element} type="${element === 'calendar' ? 'caldav' : 'carddav'}">
      <username>%EMAILADDRESS%</username>
      <authentication>http-basic</authentication>
      <serverURL>${escapeXml(url)}</serverURL>
    </${element}>`
