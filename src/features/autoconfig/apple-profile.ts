import { createHash } from 'node:crypto'
import { escapeXml, XML_HEAD } from '../../lib/xml.ts'

const DOCTYPE =
  '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'

type Value = string | number | boolean | Value[] | { [key: string]: Value }

export interface ProfileSettings {
  address: string
  mailHost: string
  /** The host of calendars and contacts; undefined while they are not offered. */
  davHost: string | undefined
}

/** A configuration profile of Apple, with the accounts of an address and without its password. */
export function appleProfile({ address, mailHost, davHost }: ProfileSettings): string {
  const payload = (kind: string, type: string, more: { [key: string]: Value }) => ({
    PayloadType: type,
    PayloadVersion: 1,
    PayloadIdentifier: `${identifierOf(address)}.${kind}`,
    PayloadUUID: uuidOf(`${kind} ${address}`),
    PayloadDisplayName: address,
    ...more,
  })
  const content = [
    payload('mail', 'com.apple.mail.managed', mailAccount(address, mailHost)),
    ...(davHost === undefined
      ? []
      : [
          payload('caldav', 'com.apple.caldav.account', davAccount('CalDAV', address, davHost)),
          payload('carddav', 'com.apple.carddav.account', davAccount('CardDAV', address, davHost)),
        ]),
  ]
  const profile = payload('profile', 'Configuration', { PayloadContent: content })
  return `${XML_HEAD}${DOCTYPE}<plist version="1.0">${plist(profile)}</plist>\n`
}

const mailAccount = (address: string, mailHost: string) => ({
  EmailAccountType: 'EmailTypeIMAP',
  EmailAddress: address,
  IncomingMailServerAuthentication: 'EmailAuthPassword',
  IncomingMailServerHostName: mailHost,
  IncomingMailServerPortNumber: 993,
  IncomingMailServerUseSSL: true,
  IncomingMailServerUsername: address,
  OutgoingMailServerAuthentication: 'EmailAuthPassword',
  OutgoingMailServerHostName: mailHost,
  OutgoingMailServerPortNumber: 465,
  OutgoingMailServerUseSSL: true,
  OutgoingMailServerUsername: address,
  OutgoingPasswordSameAsIncomingPassword: true,
})

const davAccount = (kind: 'CalDAV' | 'CardDAV', address: string, host: string) => ({
  [`${kind}AccountDescription`]: address,
  [`${kind}HostName`]: host,
  [`${kind}Port`]: 443,
  [`${kind}UseSSL`]: true,
  [`${kind}Username`]: address,
  [`${kind}PrincipalURL`]: '/dav/',
})

/** The same for each profile of an address, so that a new one replaces the old one. */
const identifierOf = (address: string) => `mailplane.${uuidOf(address).toLowerCase()}`

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex').slice(0, 32).toUpperCase()
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function plist(value: Value): string {
  if (Array.isArray(value)) return `<array>${value.map(plist).join('')}</array>`
  switch (typeof value) {
    case 'string':
      return `<string>${escapeXml(value)}</string>`
    case 'number':
      return `<integer>${value}</integer>`
    case 'boolean':
      return value ? '<true/>' : '<false/>'
    default: {
      const entries = Object.entries(value)
      return `<dict>${entries.map(([key, one]) => `<key>${escapeXml(key)}</key>${plist(one)}`).join('')}</dict>`
    }
  }
}
