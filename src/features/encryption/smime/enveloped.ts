import {
  constants,
  createCipheriv,
  createDecipheriv,
  createECDH,
  createHash,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import { Refused } from '../answer.ts'
import { der, encoded, integerOf, type Node, octets, oidOf, read, tagOf, within } from './asn1.ts'
import { type Certificate, keyIdOf } from './certificate.ts'

const DATA = '1.2.840.113549.1.7.1'
const ENVELOPED = '1.2.840.113549.1.7.3'
const AUTH_ENVELOPED = '1.2.840.113549.1.9.16.1.23'
const RSA = '1.2.840.113549.1.1.1'
const RSA_OAEP = '1.2.840.113549.1.1.7'
const EC_PUBLIC_KEY = '1.2.840.10045.2.1'
const ECDH_SHA256 = '1.3.132.1.11.1'
const AES_256_WRAP = '2.16.840.1.101.3.4.1.45'
const MAX_RECIPIENTS = 500
const GCM_TAG_BYTES = 16
/** RFC 3394 §2.2.3.1. */
const WRAP_IV = Buffer.alloc(8, 0xa6)

type CipherName = 'aes-256-cbc' | 'aes-256-gcm'

const CIPHERS: Record<string, { name: string; keyBytes: number; isGcm?: true }> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', keyBytes: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', keyBytes: 24 },
  '2.16.840.1.101.3.4.1.42': { name: 'aes-256-cbc', keyBytes: 32 },
  '1.2.840.113549.3.7': { name: 'des-ede3-cbc', keyBytes: 24 },
  '2.16.840.1.101.3.4.1.6': { name: 'aes-128-gcm', keyBytes: 16, isGcm: true },
  '2.16.840.1.101.3.4.1.26': { name: 'aes-192-gcm', keyBytes: 24, isGcm: true },
  '2.16.840.1.101.3.4.1.46': { name: 'aes-256-gcm', keyBytes: 32, isGcm: true },
}
const CIPHER_IDS: Record<CipherName, string> = {
  'aes-256-cbc': '2.16.840.1.101.3.4.1.42',
  'aes-256-gcm': '2.16.840.1.101.3.4.1.46',
}
const WRAPS: Record<string, { name: string; keyBytes: number }> = {
  '2.16.840.1.101.3.4.1.5': { name: 'id-aes128-wrap', keyBytes: 16 },
  '2.16.840.1.101.3.4.1.25': { name: 'id-aes192-wrap', keyBytes: 24 },
  [AES_256_WRAP]: { name: 'id-aes256-wrap', keyBytes: 32 },
}
const AGREEMENTS: Record<string, string> = {
  '1.3.133.16.840.63.0.2': 'sha1',
  '1.3.132.1.11.0': 'sha224',
  [ECDH_SHA256]: 'sha256',
  '1.3.132.1.11.2': 'sha384',
  '1.3.132.1.11.3': 'sha512',
}
const OAEP_DIGESTS: Record<string, string> = {
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
}

/** Content for recipients as CMS EnvelopedData (RFC 5652 §6) or AuthEnvelopedData (RFC 5083). */
export function enveloped(
  content: Buffer,
  recipients: readonly Certificate[],
  cipherName: CipherName,
): Buffer {
  const key = randomBytes(32)
  const isGcm = cipherName === 'aes-256-gcm'
  const { parameters, bytes, tag } = isGcm ? sealedByGcm(content, key) : sealedByCbc(content, key)
  const body = [
    // The version says whether there are recipients with a key agreement.
    der.integer(isGcm || recipients.every(isRsa) ? 0 : 2),
    der.set(...recipients.map((one) => recipientInfo(one, key))),
    der.sequence(
      der.oid(DATA),
      der.sequence(der.oid(CIPHER_IDS[cipherName]), parameters),
      der.instead(0, bytes),
    ),
    ...(tag ? [der.octets(tag)] : []),
  ]
  const type = isGcm ? AUTH_ENVELOPED : ENVELOPED
  return der.sequence(der.oid(type), der.tagged(0, der.sequence(...body)))
}

interface Sealed {
  parameters: Buffer
  bytes: Buffer
  tag?: Buffer
}

function sealedByCbc(content: Buffer, key: Buffer): Sealed {
  const iv = randomBytes(16)
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  const bytes = Buffer.concat([cipher.update(content), cipher.final()])
  return { parameters: der.octets(iv), bytes }
}

function sealedByGcm(content: Buffer, key: Buffer): Sealed {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: GCM_TAG_BYTES })
  const bytes = Buffer.concat([cipher.update(content), cipher.final()])
  const parameters = der.sequence(der.octets(nonce), der.integer(GCM_TAG_BYTES))
  return { parameters, bytes, tag: cipher.getAuthTag() }
}

const isRsa = ({ x509 }: Certificate): boolean => x509.publicKey.asymmetricKeyType === 'rsa'

const issuerAndSerial = ({ fields }: Certificate): Buffer =>
  der.sequence(encoded(fields.issuer.toSchema()), encoded(fields.serialNumber))

function recipientInfo(certificate: Certificate, key: Buffer): Buffer {
  const { x509, fields } = certificate
  const id = issuerAndSerial(certificate)
  if (isRsa(certificate)) {
    // Mail programs read PKCS #1 v1.5 everywhere, and OAEP in few places.
    const padding = constants.RSA_PKCS1_PADDING
    const wrapped = publicEncrypt({ key: x509.publicKey, padding }, key)
    const algorithm = der.sequence(der.oid(RSA), der.null())
    return der.sequence(der.integer(0), id, algorithm, der.octets(wrapped))
  }
  const { namedCurve = '' } = x509.publicKey.asymmetricKeyDetails ?? {}
  const point = fields.subjectPublicKeyInfo.subjectPublicKey.valueBlock.valueHexView
  const ephemeral = createECDH(namedCurve)
  const own = ephemeral.generateKeys()
  const wrap = der.sequence(der.oid(AES_256_WRAP))
  const kek = derived(ephemeral.computeSecret(point), wrap, undefined, 32, 'sha256')
  const cipher = createCipheriv('id-aes256-wrap', kek, WRAP_IV)
  const wrapped = Buffer.concat([cipher.update(key), cipher.final()])
  const originator = der.tagged(1, der.sequence(der.oid(EC_PUBLIC_KEY)), der.bits(own))
  return der.tagged(
    1,
    der.integer(3),
    der.tagged(0, originator),
    der.sequence(der.oid(ECDH_SHA256), wrap),
    der.sequence(der.sequence(id, der.octets(wrapped))),
  )
}

/** ANSI X9.63 with the SharedInfo of RFC 5753 §7.2. */
function derived(
  secret: Buffer,
  wrap: Buffer,
  userMaterial: Buffer | undefined,
  keyBytes: number,
  digest: string,
): Buffer {
  const bits = Buffer.alloc(4)
  bits.writeUInt32BE(keyBytes * 8)
  const info = der.sequence(
    wrap,
    ...(userMaterial ? [der.tagged(0, der.octets(userMaterial))] : []),
    der.tagged(2, der.octets(bits)),
  )
  const blocks: Buffer[] = []
  for (let counter = 1; Buffer.concat(blocks).length < keyBytes; counter++) {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    blocks.push(createHash(digest).update(secret).update(count).update(info).digest())
  }
  return Buffer.concat(blocks).subarray(0, keyBytes)
}

/** The parts of a message that is encrypted. */
export interface Envelope {
  recipients: Node[]
  cipher: { name: string; keyBytes: number; isGcm?: true }
  parameters: Node | undefined
  sealed: Buffer
  tag: Buffer
  attributes: Buffer
}

export function readEnvelope(bytes: Buffer): Envelope {
  const [type, wrapped] = within(read(bytes, 'The message'))
  const [body] = within(wrapped)
  if (oidOf(type) !== ENVELOPED && oidOf(type) !== AUTH_ENVELOPED) {
    throw new Refused('The message is not encrypted')
  }
  const values = within(body).filter((node, index) => index > 0 && tagOf(node) !== 0)
  const [set, info, ...rest] = values
  const [, algorithm, content] = within(info)
  const [cipherId, parameters] = within(algorithm)
  const cipher = CIPHERS[oidOf(cipherId)]
  if (!cipher) throw new Refused('The message is encrypted with a cipher that is not accepted')
  if (Boolean(cipher.isGcm) !== (oidOf(type) === AUTH_ENVELOPED)) {
    throw new Refused('The message cannot be read')
  }
  const recipients = within(set)
  if (recipients.length > MAX_RECIPIENTS) {
    throw new Refused(`The message has more than ${MAX_RECIPIENTS} recipients`)
  }
  const attributes = rest.find((node) => tagOf(node) === 1)
  return {
    recipients,
    cipher,
    parameters,
    sealed: content ? octets(content) : Buffer.alloc(0),
    tag: octets(rest.find((node) => tagOf(node) === undefined)),
    attributes: attributes ? asSet(encoded(attributes)) : Buffer.alloc(0),
  }
}

/** Authenticated attributes count with the tag of a SET (RFC 5083 §2.2). */
function asSet(bytes: Buffer): Buffer {
  bytes[0] = 0x31
  return bytes
}

/** The key that opens the envelope for a certificate; undefined if it is no recipient. */
export function wrappedKeyFor(envelope: Envelope, certificate: Certificate): Node[] | undefined {
  for (const node of envelope.recipients) {
    if (tagOf(node) === undefined) {
      const [, id] = within(node)
      if (id && isOf(certificate, id)) return [node]
    } else if (tagOf(node) === 1) {
      const keys = within(within(node).at(-1))
      const own = keys.find((one) => within(one)[0] && isOf(certificate, within(one)[0] as Node))
      if (own) return [node, own]
    }
  }
  return undefined
}

function isOf(certificate: Certificate, id: Node): boolean {
  if (tagOf(id) === undefined) return encoded(id).equals(issuerAndSerial(certificate))
  // A recipient of a key agreement has its key id in a sequence.
  const sent = within(id).length > 0 ? octets(within(id)[0]) : octets(id)
  return sent.length > 0 && keyIdOf(certificate)?.equals(sent) === true
}

/** Opens the envelope. All failures look alike, so that none of them tells about the padding. */
export function openEnvelope(envelope: Envelope, wrapped: Node[], key: KeyObject): Buffer {
  try {
    const [recipient, own] = wrapped
    return content(envelope, own ? agreedKey(recipient, own, key) : transportedKey(recipient, key))
  } catch {
    throw new Refused('The message cannot be decrypted')
  }
}

function transportedKey(recipient: Node | undefined, key: KeyObject): Buffer {
  const [, , algorithm, wrapped] = within(recipient)
  const [name, parameters] = within(algorithm)
  if (oidOf(name) === RSA) {
    return privateDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, octets(wrapped))
  }
  if (oidOf(name) !== RSA_OAEP) throw new Error('an unknown key transport')
  const hash = within(parameters).find((node) => tagOf(node) === 0)
  const oaepHash = hash ? OAEP_DIGESTS[oidOf(within(within(hash)[0])[0])] : 'sha1'
  if (oaepHash === undefined) throw new Error('an unknown digest')
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  return privateDecrypt({ key, padding, oaepHash }, octets(wrapped))
}

function agreedKey(recipient: Node | undefined, own: Node, key: KeyObject): Buffer {
  const values = within(recipient)
  const tagged = (number: number) => values.find((node) => tagOf(node) === number)
  const algorithm = values.filter((node) => tagOf(node) === undefined)[1]
  const [scheme, wrap] = within(algorithm)
  const digest = AGREEMENTS[oidOf(scheme)]
  const wrapping = WRAPS[oidOf(within(wrap)[0])]
  const [originator] = within(tagged(0))
  const point = (within(originator)[1]?.valueBlock as { valueHexView?: Uint8Array })?.valueHexView
  if (!digest || !wrapping || !wrap || !point) throw new Error('an unknown key agreement')
  const { d = '' } = key.export({ format: 'jwk' })
  const ecdh = createECDH(key.asymmetricKeyDetails?.namedCurve ?? '')
  ecdh.setPrivateKey(Buffer.from(d, 'base64url'))
  const material = tagged(1) ? octets(within(tagged(1))[0]) : undefined
  const secret = ecdh.computeSecret(point)
  const kek = derived(secret, encoded(wrap), material, wrapping.keyBytes, digest)
  const decipher = createDecipheriv(wrapping.name, kek, WRAP_IV)
  return Buffer.concat([decipher.update(octets(within(own)[1])), decipher.final()])
}

function content({ cipher, parameters, sealed, tag, attributes }: Envelope, key: Buffer): Buffer {
  if (key.length !== cipher.keyBytes) throw new Error('the key has another size')
  if (!cipher.isGcm) {
    const decipher = createDecipheriv(cipher.name, key, octets(parameters))
    return Buffer.concat([decipher.update(sealed), decipher.final()])
  }
  const [nonce, size] = within(parameters)
  const authTagLength = size ? integerOf(size) : 12
  if (tag.length !== authTagLength || authTagLength < 12) throw new Error('the tag is too short')
  const decipher = createDecipheriv(cipher.name as CipherName & 'aes-256-gcm', key, octets(nonce), {
    authTagLength,
  })
  decipher.setAuthTag(tag)
  decipher.setAAD(attributes)
  return Buffer.concat([decipher.update(sealed), decipher.final()])
}
