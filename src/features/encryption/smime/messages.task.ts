import { type Answer, answer, Refused, WrongPassphrase } from '../answer.ts'
import { pem, pemBlocks } from './asn1.ts'
import { type Certificate, certificateOf } from './certificate.ts'
import { canonical, cmsIn, encryptedEntity, requiredCms, signedEntity } from './entity.ts'
import { enveloped, openEnvelope, readEnvelope, wrappedKeyFor } from './enveloped.ts'
import { privateKeyIn } from './private-keys.ts'
import { type Checked, checked, type SignatureFound, signature } from './signed.ts'
import { storedCertificate } from './stored.ts'

/** A stored certificate with its locked private key. */
export interface OwnKey {
  certificate: string
  chain: string
  privateKey: string
}

interface Trusting {
  /** In PEM. */
  roots: string
  stored: string[]
  sender?: string | undefined
}

type Input = { now: Date } & (
  | {
      kind: 'encrypt'
      message: string
      certificates: string[]
      cipher: 'aes-256-cbc' | 'aes-256-gcm'
    }
  | { kind: 'decrypt'; message: string; keys: OwnKey[]; passphrase: string; trust: Trusting }
  | { kind: 'sign'; message: string; isDetached: boolean; key: OwnKey; passphrase: string }
  | { kind: 'verify'; message: string; signature?: string | undefined; trust: Trusting }
)

interface Done {
  text: string
  signatures: SignatureFound[]
}

/** Encrypts, decrypts, signs or verifies one text. */
export default (input: Input): Promise<Answer<Done>> =>
  answer(async () => {
    switch (input.kind) {
      case 'encrypt':
        return made(encrypted(input.message, input.certificates, input.cipher))
      case 'decrypt':
        return decrypted(input.message, input.keys, input.passphrase, input.trust, input.now)
      case 'sign':
        return made(signed(input.message, input.isDetached, input.key, input.passphrase, input.now))
      case 'verify':
        return verified(input.message, input.signature, input.trust, input.now)
    }
  })

const made = (text: string): Done => ({ text, signatures: [] })

function encrypted(
  message: string,
  certificates: readonly string[],
  cipher: 'aes-256-cbc' | 'aes-256-gcm',
): string {
  const sealed = enveloped(canonical(message), certificates.map(storedCertificate), cipher)
  return `MIME-Version: 1.0\r\n${encryptedEntity(sealed, cipher === 'aes-256-gcm')}`
}

async function decrypted(
  message: string,
  keys: readonly OwnKey[],
  passphrase: string,
  trust: Trusting,
  now: Date,
): Promise<Done> {
  const envelope = readEnvelope(requiredCms(canonical(message), 'encrypted').bytes)
  for (const own of keys) {
    const wrapped = wrappedKeyFor(envelope, storedCertificate(own.certificate))
    if (!wrapped) continue
    const content = openEnvelope(envelope, wrapped, unlocked(own, passphrase))
    const inside = cmsIn(content)
    if (!inside) return made(content.toString())
    // A message is usually signed first, and then encrypted.
    const found = await checkedFrom(inside.bytes, inside.beside, trust, now)
    return { text: found.content.toString(), signatures: found.signatures }
  }
  throw new Refused('The message is not encrypted to a certificate of the address')
}

function unlocked({ privateKey }: OwnKey, passphrase: string) {
  const key = privateKeyIn(privateKey, passphrase)
  if (!key) throw new WrongPassphrase('The passphrase does not open the private key')
  return key
}

function signed(
  message: string,
  isDetached: boolean,
  own: OwnKey,
  passphrase: string,
  now: Date,
): string {
  const content = canonical(message)
  const chain = certificatesIn(own.chain)
  const key = unlocked(own, passphrase)
  const bytes = signature(content, key, storedCertificate(own.certificate), chain, now)
  return isDetached ? pem('CMS', bytes) : signedEntity(content, bytes)
}

async function verified(
  message: string,
  signature: string | undefined,
  trust: Trusting,
  now: Date,
): Promise<Done> {
  const raw = canonical(message)
  const found: { bytes: Buffer; beside?: Buffer } =
    signature === undefined
      ? requiredCms(raw, 'signed')
      : { ...requiredCms(canonical(signature), 'a signature'), beside: raw }
  const { content, signatures } = await checkedFrom(found.bytes, found.beside, trust, now)
  return { text: content.toString(), signatures }
}

const checkedFrom = (
  bytes: Buffer,
  beside: Buffer | undefined,
  { roots, stored, sender }: Trusting,
  now: Date,
): Promise<Checked> =>
  checked(bytes, beside, {
    roots: certificatesIn(roots),
    stored: stored.map(storedCertificate),
    sender,
    now,
  })

const certificatesIn = (text: string): Certificate[] =>
  pemBlocks(text, /^CERTIFICATE$/).map(({ bytes }) => certificateOf(bytes))
