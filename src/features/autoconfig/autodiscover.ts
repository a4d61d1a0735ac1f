import { CLIENT_SERVERS } from '../../hosting/client-settings.ts'
import { type Element, elementsOf, escapeXml, readXml, textOf, XML_HEAD } from '../../lib/xml.ts'

// Outlook sends fewer than ten elements.
const LIMITS = { depth: 20, parts: 200 }
const MAX_ADDRESS = 1000
const RESPONSE = 'http://schemas.microsoft.com/exchange/autodiscover/responseschema/2006'
const OUTLOOK = 'http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a'

/** Reads the address from a request of Outlook. Throws when it is not plain, shallow XML. */
export function addressIn(request: string): string | undefined {
  const found = firstNamed(readXml(request, LIMITS), 'EMailAddress')
  return found && textOf(found).slice(0, MAX_ADDRESS).trim()
}

function firstNamed(element: Element, name: string): Element | undefined {
  if (element.name === name) return element
  for (const child of elementsOf(element)) {
    const found = firstNamed(child, name)
    if (found) return found
  }
  return undefined
}

/** The settings in the plain XML of Outlook. The user name is always the address. */
export function autodiscoverSettings(address: string, mailHost: string): string {
  const protocols = CLIENT_SERVERS.map(
    ({ protocol, port, encryption }) => `      <Protocol>
        <Type>${protocol.toUpperCase()}</Type>
        <Server>${escapeXml(mailHost)}</Server>
        <Port>${port}</Port>
        <LoginName>${escapeXml(address)}</LoginName>
        <DomainRequired>off</DomainRequired>
        <SPA>off</SPA>
        <SSL>on</SSL>
        <Encryption>${encryption === 'tls' ? 'SSL' : 'TLS'}</Encryption>
        <AuthRequired>on</AuthRequired>
      </Protocol>`,
  )
  return `${XML_HEAD}<Autodiscover xmlns="${RESPONSE}">
  <Response xmlns="${OUTLOOK}">
    <User>
      <DisplayName>${escapeXml(address)}</DisplayName>
    </User>
    <Account>
      <AccountType>email</AccountType>
      <Action>settings</Action>
${protocols.join('\n')}
    </Account>
  </Response>
</Autodiscover>
`
}

/** The form in which Outlook expects an error. */
export const autodiscoverError = (code: number, message: string, at: Date): string =>
  `${XML_HEAD}<Autodiscover xmlns="${RESPONSE}">
  <Response>
    <Error Time="${at.toISOString().slice(11, 19)}" Id="1">
      <ErrorCode>${code}</ErrorCode>
      <Message>${escapeXml(message)}</Message>
      <DebugData />
    </Error>
  </Response>
</Autodiscover>
`

const URLS: Record<string, (mailHost: string, domain: string) => string> = {
  autodiscoverv1: (_host, domain) => `https://autodiscover.${domain}/autodiscover/autodiscover.xml`,
  imap: (host) => `imaps://${host}:993`,
  pop3: (host) => `pop3s://${host}:995`,
  smtp: (host) => `smtps://${host}:465`,
}
const NAMES: Record<string, string> = {
  autodiscoverv1: 'AutodiscoverV1',
  imap: 'IMAP',
  pop3: 'POP3',
  smtp: 'SMTP',
}

/** The answer of Autodiscover in JSON; undefined for a protocol that is not offered. */
export function autodiscoverJson(protocol: string, mailHost: string, domain: string) {
  const key = protocol.toLowerCase()
  const url = Object.hasOwn(URLS, key) ? URLS[key] : undefined
  return url && { Protocol: NAMES[key] as string, Url: url(mailHost, domain) }
}
