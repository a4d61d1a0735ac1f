import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { toDomainName } from '../../../lib/domain-name.ts'

/** What a file says. */
export interface FoundCertificate {
  /** The first name it is for; undefined when it is for none. */
  domain: string | undefined
  names: string[]
  issuer: string | null
  algorithm: string | null
  key_size: number | null
  valid_from: Date | null
  valid_until: Date | null
  fingerprint: string
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----[^-]{1,200000}-----END \1-----/g
const MAX_NAMES = 200
const MAX_TEXT = 255

/** Undefined for a file that holds keys and no certificate; throws when it should hold one. */
export function readCertificate(content: Buffer): FoundCertificate | undefined {
  const text = content.toString('latin1')
  const blocks = [...text.matchAll(BLOCK)].map(([block, name = '']) => ({ block, name }))
  const keys = blocks.filter(({ name }) => name.endsWith('PRIVATE KEY'))
  // The first is the one that counts; those after it lead to its CA.
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
  }
}

function parsed(certificate: string | Buffer): X509Certificate {
  try {
    return new X509Certificate(certificate)
  } catch {
    throw new Error('the file is not a certificate')
  }
}

/** A key that needs a password says nothing either way. */
function belongs(certificate: X509Certificate, pem: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(pem))
  } catch {
    return true
  }
}

/** Whoever made the certificate chose the names: only those that are names of domains count. */
function namesOf(certificate: X509Certificate): string[] {
  const alternative = certificate.subjectAltName ?? ''
  // Node quotes what could be taken for something else; no domain name needs quoting.
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

const dateOf = (text: string): Date | null => {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? null : date
}
