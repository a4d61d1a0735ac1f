import { createHash, type KeyObject, sign, type X509Certificate } from 'node:crypto'
import * as pkijs from 'pkijs'
import { Refused } from '../answer.ts'
import { der, encoded, octets, read } from './asn1.ts'
import {
  addressesOf,
  type Certificate,
  certificateOf,
  fingerprintOf,
  keyIdOf,
  usesOf,
} from './certificate.ts'

const DATA = '1.2.840.113549.1.7.1'
const SIGNED = '1.2.840.113549.1.7.2'
const CONTENT_TYPE = '1.2.840.113549.1.9.3'
const MESSAGE_DIGEST = '1.2.840.113549.1.9.4'
const SIGNING_TIME = '1.2.840.113549.1.9.5'
const SHA256 = '2.16.840.1.101.3.4.2.1'
const RSA = '1.2.840.113549.1.1.1'
const ECDSA_SHA256 = '1.2.840.10045.4.3.2'
const MAX_SIGNERS = 10
const MAX_CERTIFICATES = 30
const MAX_PATH = 8

/** Digests that are not broken. */
const DIGESTS = [SHA256, '2.16.840.1.101.3.4.2.2', '2.16.840.1.101.3.4.2.3']

/** A signature over content as CMS SignedData (RFC 5652 §5), without the content. */
export function signature(
  content: Buffer,
  key: KeyObject,
  own: Certificate,
  chain: readonly Certificate[],
  now: Date,
): Buffer {
  const digest = createHash('sha256').update(content).digest()
  const attribute = (id: string, value: Buffer) => der.sequence(der.oid(id), der.set(value))
  const attributes = der.set(
    attribute(CONTENT_TYPE, der.oid(DATA)),
    attribute(SIGNING_TIME, der.time(now)),
    attribute(MESSAGE_DIGEST, der.octets(digest)),
  )
  const sha256 = der.sequence(der.oid(SHA256))
  const isRsa = key.asymmetricKeyType === 'rsa'
  const algorithm = isRsa
    ? der.sequence(der.oid(RSA), der.null())
    : der.sequence(der.oid(ECDSA_SHA256))
  const tagged = Buffer.from(attributes)
  tagged[0] = 0xa0
  const { fields } = own
  const signer = der.sequence(
    der.integer(1),
    der.sequence(encoded(fields.issuer.toSchema()), encoded(fields.serialNumber)),
    sha256,
    tagged,
    algorithm,
    der.octets(sign('sha256', attributes, key)),
  )
  const body = der.sequence(
    der.integer(1),
    der.set(sha256),
    der.sequence(der.oid(DATA)),
    der.tagged(0, ...[own, ...chain].map(({ x509 }) => x509.raw)),
    der.set(signer),
  )
  return der.sequence(der.oid(SIGNED), der.tagged(0, body))
}

export interface Trust {
  /** Certificates of the operator that end a chain. */
  roots: readonly Certificate[]
  /** Certificates that the organization has stored for the sender: trusted as they are. */
  stored: readonly Certificate[]
  sender: string | undefined
  now: Date
}

export interface SignatureFound {
  fingerprint: string | null
  signer: string | null
  valid: boolean
  trusted_by: 'root' | 'stored' | null
  problem: string | null
}

export interface Checked {
  content: Buffer
  signatures: SignatureFound[]
}

/** Checks a signature, over the content within or beside it. */
export async function checked(
  bytes: Buffer,
  beside: Buffer | undefined,
  trust: Trust,
): Promise<Checked> {
  const data = readSigned(bytes)
  const inside = data.encapContentInfo.eContent
  const content = inside ? Buffer.from(inside.getValue()) : beside
  if (!content) throw new Refused('The signature has no content, and none was sent with it')
  if (inside && beside) throw new Refused('The signature has its own content')
  const given = (data.certificates ?? []).flatMap((one) =>
    one instanceof pkijs.Certificate ? [certificateOf(encoded(one.toSchema(true)))] : [],
  )
  if (data.signerInfos.length > MAX_SIGNERS || given.length > MAX_CERTIFICATES) {
    throw new Refused('The message has too many signers or certificates')
  }
  const signatures: SignatureFound[] = []
  for (const index of data.signerInfos.keys()) {
    signatures.push(await checkedSigner(data, index, inside ? undefined : content, given, trust))
  }
  return { content, signatures }
}

function readSigned(bytes: Buffer): pkijs.SignedData {
  try {
    const info = new pkijs.ContentInfo({ schema: read(bytes, 'The signature') })
    if (info.contentType !== SIGNED) throw new Refused('The message is not signed')
    return new pkijs.SignedData({ schema: info.content })
  } catch (error) {
    throw error instanceof Refused ? error : new Refused('The signature cannot be read')
  }
}

async function checkedSigner(
  data: pkijs.SignedData,
  index: number,
  beside: Buffer | undefined,
  given: readonly Certificate[],
  trust: Trust,
): Promise<SignatureFound> {
  const found = signerOf(data.signerInfos[index], [...given, ...trust.stored])
  const about = {
    fingerprint: found ? fingerprintOf(found) : null,
    signer: found ? (addressesOf(found)[0] ?? null) : null,
  }
  const failed = (problem: string) => ({ ...about, valid: false, trusted_by: null, problem })
  if (!found) return failed('The certificate of the signer is missing')
  const digest = data.signerInfos[index]?.digestAlgorithm.algorithmId ?? ''
  if (!DIGESTS.includes(digest)) return failed('The digest of the signature is not accepted')
  if (!(await isIntact(data, index, beside, found))) {
    return failed('The signature does not belong to the message')
  }
  const { sender, now } = trust
  if (sender === undefined) return failed('Name the sender to check the signature')
  if (!addressesOf(found).includes(sender)) return failed(`The certificate is not of ${sender}`)
  if (!usesOf(found).sign) return failed('The certificate is not for signing mail')
  if (!isValidAt(found.x509, now)) return failed('The certificate has expired or is not valid yet')
  const trusted_by = await trustedBy(found, given, trust)
  if (!trusted_by) return failed('No certificate that is trusted here vouches for the signer')
  return { ...about, valid: true, trusted_by, problem: null }
}

function signerOf(
  info: pkijs.SignerInfo | undefined,
  certificates: readonly Certificate[],
): Certificate | undefined {
  const id = info?.sid
  return certificates.find((one) => {
    if (!(id instanceof pkijs.IssuerAndSerialNumber)) return keyIdOf(one)?.equals(octets(id))
    const { issuer, serialNumber } = one.fields
    return id.issuer.isEqual(issuer) && id.serialNumber.isEqual(serialNumber)
  })
}

async function isIntact(
  data: pkijs.SignedData,
  signer: number,
  beside: Buffer | undefined,
  certificate: Certificate,
): Promise<boolean> {
  // The certificate of the signer alone: the library would choose among the given ones itself.
  data.certificates = [certificate.fields]
  try {
    const bytes = beside && { data: new Uint8Array(beside).buffer }
    return await data.verify({ signer, ...bytes, checkChain: false })
  } catch {
    return false
  }
}

const isValidAt = ({ validFrom, validTo }: X509Certificate, now: Date): boolean =>
  new Date(validFrom) <= now && now <= new Date(validTo)

async function trustedBy(
  certificate: Certificate,
  given: readonly Certificate[],
  { roots, stored, now }: Trust,
): Promise<'root' | 'stored' | null> {
  const fingerprint = fingerprintOf(certificate)
  if (stored.some((one) => fingerprintOf(one) === fingerprint)) return 'stored'
  return (await leadsToRoot(certificate, given, roots, now)) ? 'root' : null
}

/**
 * Finds one path with the signatures alone, so that certificates that vouch for each other in circles
 * cost nothing; the library then checks constraints, uses and dates of that path.
 */
async function leadsToRoot(
  certificate: Certificate,
  given: readonly Certificate[],
  roots: readonly Certificate[],
  now: Date,
): Promise<boolean> {
  const path = [certificate]
  for (let at = certificate; path.length < MAX_PATH; ) {
    const root = roots.find((one) => vouches(one, at))
    if (root) {
      const chain = new pkijs.CertificateChainValidationEngine({
        trustedCerts: [root.fields],
        certs: path.map(({ fields }) => fields).reverse(),
        checkDate: now,
      })
      return (await chain.verify()).result && isValidAt(root.x509, now)
    }
    const next = given.find((one) => !path.includes(one) && vouches(one, at))
    if (!next) return false
    path.push(next)
    at = next
  }
  return false
}

function vouches({ x509: issuer }: Certificate, { x509: subject }: Certificate): boolean {
  try {
    return issuer.ca && subject.checkIssued(issuer) && subject.verify(issuer.publicKey)
  } catch {
    return false
  }
}
