import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  type KeyObject,
  pbkdf2Sync,
  randomBytes,
} from 'node:crypto'
import { Refused, WrongPassphrase } from '../answer.ts'
import { der, integerOf, type Node, octets, oidOf, pem, pemBlocks, read, within } from './asn1.ts'

const PBES2 = '1.2.840.113549.1.5.13'
const PBKDF2 = '1.2.840.113549.1.5.12'
const HMAC_SHA256 = '1.2.840.113549.2.9'
const AES_256_CBC = '2.16.840.1.101.3.4.1.42'

const ITERATIONS = 600_000
/** Native code cannot be interrupted, so the limit is checked before it starts. */
export const MAX_ITERATIONS = 2_000_000

const DIGESTS: Record<string, string> = {
  '1.2.840.113549.2.7': 'sha1',
  [HMAC_SHA256]: 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
}
const CIPHERS: Record<string, { name: string; keyBytes: number }> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', keyBytes: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', keyBytes: 24 },
  [AES_256_CBC]: { name: 'aes-256-cbc', keyBytes: 32 },
  '1.2.840.113549.3.7': { name: 'des-ede3-cbc', keyBytes: 24 },
}

const LOCKED = 'ENCRYPTED PRIVATE KEY'

/** A private key in PEM, locked with the passphrase (PKCS #8, PBES2). */
export function locked(key: KeyObject, passphrase: string): string {
  const salt = randomBytes(16)
  const iv = randomBytes(16)
  const kek = pbkdf2Sync(passphrase, salt, ITERATIONS, 32, 'sha256')
  const cipher = createCipheriv('aes-256-cbc', kek, iv)
  const plain = key.export({ type: 'pkcs8', format: 'der' })
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  const prf = der.sequence(der.oid(HMAC_SHA256), der.null())
  const derivation = der.sequence(der.octets(salt), der.integer(ITERATIONS), prf)
  const parameters = der.sequence(
    der.sequence(der.oid(PBKDF2), derivation),
    der.sequence(der.oid(AES_256_CBC), der.octets(iv)),
  )
  const algorithm = der.sequence(der.oid(PBES2), parameters)
  return pem(LOCKED, der.sequence(algorithm, der.octets(sealed)))
}

/** A private key in PEM; undefined if the text has none. */
export function privateKeyIn(text: string, passphrase: string | undefined): KeyObject | undefined {
  const [block] = pemBlocks(text, /PRIVATE KEY$/)
  if (!block) return withOldLock(text, passphrase)
  if (block.label !== LOCKED) return keyOf(text.slice(text.indexOf(`-----BEGIN ${block.label}`)))
  const [algorithm, sealed] = within(read(block.bytes, 'The private key'))
  if (!algorithm) throw new Refused('The private key is not valid DER')
  return unlockedKey(algorithm, octets(sealed), passphrase)
}

/** Older programs write how a key is locked into lines of their own. */
function withOldLock(text: string, passphrase: string | undefined): KeyObject | undefined {
  const start = text.search(/-----BEGIN (RSA|EC) PRIVATE KEY-----\s+Proc-Type: 4,ENCRYPTED/)
  if (start === -1) return undefined
  if (passphrase === undefined) throw new WrongPassphrase('The private key is locked')
  try {
    return createPrivateKey({ key: text.slice(start), format: 'pem', passphrase })
  } catch {
    throw new WrongPassphrase('The passphrase does not open the private key')
  }
}

function keyOf(text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch {
    throw new Refused('The private key cannot be read')
  }
}

export function privateKeyFrom(pkcs8: Buffer): KeyObject {
  try {
    return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  } catch {
    throw new Refused('The private key cannot be read')
  }
}

/** A wrong passphrase can leave bytes that look like the end of a block, but they are no key. */
export function unlockedKey(
  algorithm: Node,
  sealed: Buffer,
  passphrase: string | undefined,
): KeyObject {
  const key = opened(algorithm, sealed, passphrase)
  try {
    return privateKeyFrom(key)
  } catch {
    throw new WrongPassphrase('The passphrase does not open the private key')
  }
}

/** Opens what PBES2 has locked (RFC 8018 §6.2). */
export function opened(algorithm: Node, sealed: Buffer, passphrase: string | undefined): Buffer {
  const [name, parameters] = within(algorithm)
  const [derivation, scheme] = within(parameters)
  const [kdf, kdfParameters] = within(derivation)
  const [cipherName, iv] = within(scheme)
  const cipher = CIPHERS[oidOf(cipherName)]
  if (oidOf(name) !== PBES2 || oidOf(kdf) !== PBKDF2 || !cipher) {
    throw new Refused('The private key is locked in an outdated way; export it again with AES')
  }
  const [salt, iterations, ...more] = within(kdfParameters)
  const prf = more.find((node) => within(node).length > 0)
  const digest = prf ? DIGESTS[oidOf(within(prf)[0])] : 'sha1'
  const count = integerOf(iterations)
  if (digest === undefined || !(count >= 1 && count <= MAX_ITERATIONS)) {
    throw new Refused('The private key is locked with parameters that are not accepted')
  }
  if (passphrase === undefined) throw new WrongPassphrase('The private key is locked')
  try {
    const kek = pbkdf2Sync(passphrase, octets(salt), count, cipher.keyBytes, digest)
    const decipher = createDecipheriv(cipher.name, kek, octets(iv))
    return Buffer.concat([decipher.update(sealed), decipher.final()])
  } catch {
    throw new WrongPassphrase('The passphrase does not open the private key')
  }
}
