import * as openpgp from 'openpgp'
import { type Answer, answer, Refused } from '../answer.ts'
import { LIMITS, unarmoured, unlocked } from './openpgp.ts'

interface Input {
  /** A public or private key in ASCII armour. */
  key: string
  email: string
  /** Locks the private key, and opens it when it is locked already. */
  passphrase?: string | undefined
  /** Stored public keys of the address. An older copy of one of them takes nothing away from it. */
  known: readonly string[]
  now: Date
}

export interface ReadKey {
  fingerprint: string
  user_id: string
  key_type: string
  key_length: number | null
  public_key: string
  /** Without the other user ids and without signatures of others. */
  published_key: Uint8Array
  can_encrypt: boolean
  expires_at: string | null
  revoked: boolean
  /** Locked with the passphrase. */
  private_key?: string
}

const KEY_TYPES: Record<string, string> = {
  rsaEncryptSign: 'rsa',
  rsaSign: 'rsa',
  dsa: 'dsa',
  ecdsa: 'ecdsa',
  eddsaLegacy: 'ed25519',
  ed25519: 'ed25519',
  ed448: 'ed448',
}

/** Reads a key for an address: it must hold a user id of that address that its owner has signed. */
export default ({ key, email, passphrase, known, now }: Input): Promise<Answer<ReadKey>> =>
  answer(async () => {
    const binaryKey = await unarmoured(key)
    const read = await openpgp.readKey({ binaryKey, config: LIMITS }).catch((error) => {
      throw new Refused(`The key cannot be read: ${error.message}`)
    })
    const private_key = read.isPrivate() ? await lockedKey(read, passphrase) : undefined
    const merged = await withKnown(read.toPublic(), known, now)
    return { ...(await factsOf(merged, email, now)), ...(private_key && { private_key }) }
  })

async function withKnown(
  key: openpgp.PublicKey,
  known: readonly string[],
  now: Date,
): Promise<openpgp.PublicKey> {
  for (const armoredKey of known) {
    const before = await openpgp.readKey({ armoredKey, config: LIMITS })
    if (before.getFingerprint() === key.getFingerprint()) return before.update(key, now)
  }
  return key
}

async function lockedKey(key: openpgp.PrivateKey, passphrase: string | undefined): Promise<string> {
  if (passphrase === undefined) throw new Refused('Send a passphrase with a private key')
  const open = await unlocked(key, passphrase)
  const locked = await openpgp.encryptKey({ privateKey: open, passphrase, config: LIMITS })
  return locked.armor()
}

export async function factsOf(
  key: openpgp.PublicKey,
  email: string,
  now: Date,
): Promise<Omit<ReadKey, 'private_key'>> {
  const users = key.users.filter(({ userID }) => userID?.email?.toLowerCase() === email)
  const revoked = await key.isRevoked(undefined, undefined, now)
  const valid: openpgp.User[] = []
  for (const user of users) {
    const isValid = await user.verify(now).catch(() => false)
    if (isValid) valid.push(user)
  }
  // The user ids of a revoked key are not valid either; the revocation is what matters of it.
  const own = revoked ? users : valid
  const [first] = own
  if (!first?.userID) throw new Refused(`The key has no valid user id of ${email}`)
  const { algorithm, bits } = key.getAlgorithmInfo()
  const expiry = await key.getExpirationTime()
  return {
    fingerprint: key.getFingerprint().toUpperCase(),
    user_id: first.userID.userID,
    key_type: KEY_TYPES[algorithm] ?? algorithm,
    key_length: bits ?? null,
    public_key: key.armor(),
    published_key: published(key, own),
    can_encrypt: await canEncrypt(key, expiry, now),
    expires_at: expiry instanceof Date ? expiry.toISOString() : null,
    revoked,
  }
}

/** An expired key counts by what it could do while it was valid. */
async function canEncrypt(
  key: openpgp.PublicKey,
  expiry: Date | number | null,
  now: Date,
): Promise<boolean> {
  const at = expiry instanceof Date && expiry <= now ? new Date(expiry.getTime() - 1000) : now
  try {
    await key.getEncryptionKey(undefined, at)
    return true
  } catch {
    return false
  }
}

function published(key: openpgp.PublicKey, own: openpgp.User[]): Uint8Array {
  const { users } = key
  key.users = own.map((user) => {
    const alone = user.clone()
    alone.otherCertifications = []
    return alone
  })
  const bytes = key.write()
  key.users = users
  return new Uint8Array(bytes)
}
