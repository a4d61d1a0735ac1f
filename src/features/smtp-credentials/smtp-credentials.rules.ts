import { randomBytes } from 'node:crypto'
import { InvalidRequest, invalidField } from '../../errors.ts'
import { parseIso } from '../../lib/dates.ts'
import { isNetwork } from '../../lib/ip.ts'
import { smtpSecretProblem } from '../../lib/smtp-secrets.ts'
import type { CredentialChange } from './smtp-credentials.schemas.ts'

// Checked before lower-casing, which turns the Kelvin sign into a k.
const USERNAME = /^[A-Za-z0-9._+-]+(@[A-Za-z0-9.-]+)?$/
const MAX_SLUG = 64

/** Names of administrators, of roles (RFC 2142) and of system accounts. */
const RESERVED = new Set(
  `abuse admin administrator daemon dovecot dovenull hostmaster mail mailer-daemon mailplane master
  no-reply nobody noc noreply operator postfix postmaster root rspamd security smtp superuser
  support sysadmin system user vmail webmaster www-data`.split(/\s+/),
)
const RESERVED_PREFIX = 'mailplane-'

/** Returns the login in its stored form: mail servers compare logins in lower case. */
export function readUsername(sent: string): string {
  if (sent.length < 3 || sent.length > 255 || !USERNAME.test(sent)) {
    throw invalidField(
      'username',
      'username must be 3 to 255 letters, digits and . _ - + with at most one @ between them',
    )
  }
  return sent.toLowerCase()
}

/** Names of the installation itself could be mistaken for it, or for its master login. */
export function refuseReserved(username: string, masterUser: string | undefined): void {
  const isReserved =
    RESERVED.has(username) ||
    username.startsWith(RESERVED_PREFIX) ||
    username === masterUser?.toLowerCase()
  if (isReserved) {
    throw invalidField('username', `username ${username} is reserved; choose another one`)
  }
}

/** A login with an @ must be at the domain of the credential, not at another tenant's. */
export function checkOwnDomain(username: string, domain: string): void {
  const at = username.indexOf('@')
  if (at !== -1 && username.slice(at + 1) !== domain) {
    throw invalidField('username', `username may have an @ only before ${domain}`)
  }
}

/** `acme-example-smtp-1f2e3d4c` for acme.example. */
export function newUsername(domain: string): string {
  const slug = domain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-|-$/g, '')
  return `${slug}-smtp-${randomBytes(4).toString('hex')}`
}

export function checkPassword(password: string): void {
  const problem = smtpSecretProblem(password)
  if (problem !== undefined) throw invalidField('password', problem)
}

export function readAllowedIps(sent: readonly unknown[]): string[] {
  return sent.map((entry) => {
    const text = typeof entry === 'string' ? entry.trim() : ''
    if (text === '') {
      throw invalidField('allowed_ips', 'allowed_ips entries must be non-empty strings')
    }
    if (!isNetwork(text)) {
      throw invalidField('allowed_ips', `'${entry}' is not a valid IP address or CIDR network`)
    }
    return text
  })
}

/** An enforced allowlist without entries would reject every login. */
export function checkAllowlist(enabled: boolean, allowedIps: readonly string[]): void {
  if (enabled && allowedIps.length === 0) {
    throw invalidField(
      'ip_allowlist_enabled',
      'ip_allowlist_enabled requires at least one allowed_ips entry',
    )
  }
}

/** Returns the expiry in UTC; null, for null or empty text, means never. */
export function readExpiry(sent: string | null, now: Date): string | null {
  if (sent === null || sent.trim() === '') return null
  const expiry = parseIso(sent.trim())
  if (!expiry) throw invalidField('expires_at', `'${sent}' is not a valid ISO-8601 timestamp`)
  if (expiry <= now) throw invalidField('expires_at', 'expires_at must be in the future')
  return expiry.toISOString()
}

export function refuseEmptyChange(sent: object): void {
  if (Object.keys(sent).length > 0) return
  throw new InvalidRequest([
    { loc: ['body'], msg: 'No updatable fields provided', type: 'missing' },
  ])
}

/** Returns the sent settings in their stored form; absent ones stay absent. */
export function fieldsOf({ allowed_ips, expires_at, ...plain }: CredentialChange, now: Date) {
  return {
    ...plain,
    ...(allowed_ips !== undefined && { allowed_ips: readAllowedIps(allowed_ips) }),
    ...(expires_at !== undefined && { expires_at: readExpiry(expires_at, now) }),
  }
}
