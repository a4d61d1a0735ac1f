import { X509Certificate } from 'node:crypto'
import * as pkijs from 'pkijs'
import { Refused } from '../answer.ts'
import { type Node, octets, pem } from './asn1.ts'

const MIN_RSA_BITS = 2048
const MAX_RSA_BITS = 8192

/** Curves by the name of OpenSSL, with their size in bytes. */
export const CURVES: Record<string, number> = { prime256v1: 32, secp384r1: 48, secp521r1: 66 }

const SUBJECT_KEY_ID = '2.5.29.14'
const ALTERNATIVE_NAMES = '2.5.29.17'
const KEY_USAGE = '2.5.29.15'
const EXTENDED_KEY_USAGE = '2.5.29.37'
const EMAIL_PROTECTION = '1.3.6.1.5.5.7.3.4'
const ANY_USAGE = '2.5.29.37.0'
const RFC822_NAME = 1

/** A certificate as both libraries see it: OpenSSL checks, pkijs knows the extensions. */
export interface Certificate {
  x509: X509Certificate
  fields: pkijs.Certificate
}

export interface CertificateFacts {
  fingerprint: string
  subject: string
  issuer: string
  serial: string
  key_type: string
  key_length: number
  certificate: string
  can_encrypt: boolean
  can_sign: boolean
  not_before: string
  expires_at: string
}

export function certificateOf(bytes: Buffer): Certificate {
  try {
    return {
      x509: new X509Certificate(bytes),
      fields: pkijs.Certificate.fromBER(new Uint8Array(bytes)),
    }
  } catch {
    throw new Refused('The certificate cannot be read')
  }
}

/** The addresses of the alternative names, in lower case. */
export function addressesOf({ fields }: Certificate): string[] {
  const names = extensionOf(fields, ALTERNATIVE_NAMES)
  if (!(names instanceof pkijs.AltName)) return []
  return names.altNames
    .filter(({ type }) => type === RFC822_NAME)
    .map(({ value }) => String(value).toLowerCase())
}

/** RFC 8550 §4.4: without an extension, everything is allowed. */
export function usesOf({ fields, x509 }: Certificate): { encrypt: boolean; sign: boolean } {
  const extended = extensionOf(fields, EXTENDED_KEY_USAGE)
  const purposes = extended instanceof pkijs.ExtKeyUsage ? extended.keyPurposes : [ANY_USAGE]
  const isForMail = purposes.some((one) => one === EMAIL_PROTECTION || one === ANY_USAGE)
  if (!isForMail || x509.ca) return { encrypt: false, sign: false }
  const usage = fields.extensions?.find(({ extnID }) => extnID === KEY_USAGE)
  if (!usage) return { encrypt: true, sign: true }
  const [bits = 0] = bitsOf(usage.parsedValue)
  const isRsa = x509.publicKey.asymmetricKeyType === 'rsa'
  // The bits: digitalSignature 80, nonRepudiation 40, keyEncipherment 20, keyAgreement 08.
  return { encrypt: (bits & (isRsa ? 0x20 : 0x08)) !== 0, sign: (bits & 0xc0) !== 0 }
}

export function factsOf(certificate: Certificate, now: Date): CertificateFacts {
  const { x509 } = certificate
  const { encrypt, sign } = usesOf(certificate)
  if (!encrypt && !sign) throw new Refused('The certificate is not for mail')
  const notBefore = new Date(x509.validFrom)
  if (notBefore > now) throw new Refused('The certificate is not valid yet')
  return {
    fingerprint: fingerprintOf(certificate),
    subject: oneLine(x509.subject),
    issuer: oneLine(x509.issuer),
    serial: x509.serialNumber,
    ...keyOf(certificate),
    certificate: pem('CERTIFICATE', x509.raw),
    can_encrypt: encrypt,
    can_sign: sign,
    not_before: notBefore.toISOString(),
    expires_at: new Date(x509.validTo).toISOString(),
  }
}

export const fingerprintOf = ({ x509 }: Certificate): string =>
  x509.fingerprint256.replaceAll(':', '')

function keyOf({ x509 }: Certificate): { key_type: string; key_length: number } {
  const { asymmetricKeyType, asymmetricKeyDetails } = x509.publicKey
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails ?? {}
  if (asymmetricKeyType === 'rsa' && modulusLength >= MIN_RSA_BITS && modulusLength <= MAX_RSA_BITS)
    return { key_type: 'rsa', key_length: modulusLength }
  if (asymmetricKeyType === 'ec' && CURVES[namedCurve]) {
    return {
      key_type: namedCurve,
      key_length: { 32: 256, 48: 384, 66: 521 }[CURVES[namedCurve]] ?? 0,
    }
  }
  throw new Refused('The key is neither RSA of 2048 to 8192 bits nor on P-256, P-384 or P-521')
}

/** Some programs name a certificate by the id of its key. */
export function keyIdOf({ fields }: Certificate): Buffer | undefined {
  const id = extensionOf(fields, SUBJECT_KEY_ID)
  return id === undefined ? undefined : octets(id as Node)
}

function extensionOf({ extensions }: pkijs.Certificate, id: string): unknown {
  return extensions?.find(({ extnID }) => extnID === id)?.parsedValue
}

const bitsOf = (value: unknown): Uint8Array =>
  (value as { valueBlock?: { valueHexView?: Uint8Array } })?.valueBlock?.valueHexView ??
  new Uint8Array()

/** OpenSSL writes a name on several lines. PostgreSQL refuses NUL, and the text is shown to people. */
const oneLine = (name: string | undefined): string =>
  (name ?? '')
    .replace(/[\p{Cc}]+/gu, ', ')
    .slice(0, 1000)
    .toWellFormed()
