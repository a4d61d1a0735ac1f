import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { toDomainName } from '../../../lib/domain-name.ts'

/** The data of a certificate file. */
export interface FoundCertificate {
  /** The first name; undefined if the certificate has none. */
  domain: string | undefined
  names: string[]
  issuer: string | null
  algorithm: string | null
  key_size: number | null
  valid_from: Date | null
  valid_until: Date | null
  fingerprint: string
  /** SHA-256 of the public key in hex, as TLSA records name it; null if the key cannot be read. */
  key_hash: string | null
  self_signed: boolean
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----[^-]{1,200000}-----END \1-----/g
const MAX_NAMES = 200
const MAX_TEXT = 255

/** Reads a certificate. Undefined for a file with keys only; throws if the file is broken. */
export function readCertificate(content: Buffer): FoundCertificate | undefined {
  const text = content.toString('latin1')
  const blocks = [...text.matchAll(BLOCK)].map(([block, name = '']) => ({ block, name }))
  const keys = blocks.filter(({ name }) => name.endsWith('PRIVATE KEY'))
  // The first certificate is the one of the domain; intermediate certificates follow.
  const first = blocks.find(({ name }) => /^(X509 |TRUSTED )?CERTIFICATE$/.test(name))
  if (!first && keys.length > 0) return undefined
  if (!first && text.includes('-----BEGIN')) throw new Error('there is no certificate in the file')
  const certificate = parsed(first ? first.block : content)
  const [key] = keys
  if (key && !belongs(certificate, key.block)) {
    throw new Error('the key in the file is not the key of its certificate')
  }
  const names = namesOf(certificate)
  return {
    domain: names[0]?.replace(/^\*\./, ''),
    names,
    issuer: issuerOf(certificate),
    ...keyOf(certificate),
    valid_from: dateOf(certificate.validFrom),
    valid_until: dateOf(certificate.validTo),
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    key_hash: keyHashOf(certificate),
    self_signed: certificate.subject === certificate.issuer,
  }
}

function parsed(certificate: string | Buffer): X509Certificate {
  try {
    return new X509Certificate(certificate)
  } catch {
    throw new Error('the file is not a certificate')
  }
}

/** Returns whether the key matches. A key that needs a password cannot be checked and is accepted. */
function belongs(certificate: X509Certificate, pem: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(pem))
  } catch {
    return true
  }
}

/** The valid domain names. A certificate may contain any text as a name. */
function namesOf(certificate: X509Certificate): string[] {
  const alternative = certificate.subjectAltName ?? ''
  // Node quotes names with special characters, which are not domain names.
  const listed = [...alternative.matchAll(/(?:^|, )DNS:([^",\s]+)(?=, |$)/g)].map(
    ([, name]) => name,
  )
  const common = /^CN=(.+)$/m.exec(certificate.subject)?.[1]
  const all = listed.length > 0 ? listed : [common]
  const good = all.flatMap((name = '') => {
    const wildcard = name.startsWith('*.') ? '*.' : ''
    const domain = toDomainName(name.slice(wildcard.length))
    return domain === undefined ? [] : [`${wildcard}${domain}`]
  })
  return [...new Set(good)].slice(0, MAX_NAMES)
}

function issuerOf({ issuer }: X509Certificate): string | null {
  const field = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(issuer)?.[1]
  const text = field('CN') ?? field('O') ?? issuer
  const printable = text
    .toWellFormed()
    .replace(/[\x00-\x1f\x7f]+/g, ' ')
    .trim()
  return printable === '' ? null : printable.slice(0, MAX_TEXT)
}

const CURVES: Record<string, number> = { prime256v1: 256, secp384r1: 384, secp521r1: 521 }
const ALGORITHMS: Record<string, string> = { rsa: 'RSA', 'rsa-pss': 'RSA', ec: 'ECDSA' }

function keyOf(certificate: X509Certificate): {
  algorithm: string | null
  key_size: number | null
} {
  let key: KeyObject
  try {
    key = certificate.publicKey
  } catch {
    return { algorithm: null, key_size: null }
  }
  const { asymmetricKeyType: type = '', asymmetricKeyDetails: details = {} } = key
  return {
    algorithm: ALGORITHMS[type] ?? type,
    key_size: details.modulusLength ?? CURVES[details.namedCurve ?? ''] ?? null,
  }
}

function keyHashOf(certificate: X509Certificate): string | null {
  try {
    return hashOfKey(certificate.publicKey)
  } catch {
    return null
  }
}

export const hashOfKey = (publicKey: KeyObject): string =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')

const dateOf = (text: string): Date | null => {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? null : date
}
