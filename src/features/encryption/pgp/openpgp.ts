import * as openpgp from 'openpgp'
import { lruMap } from '../../../lib/lru-map.ts'
import { Refused, WrongPassphrase } from '../answer.ts'
import { packetProblem } from './packets.ts'

/** Runs in worker threads only: the library takes a quarter of a second to load. */
export const LIMITS = {
  maxUserIDLength: 1024,
  maxDecompressedMessageSize: 20 * 1024 * 1024,
  maxArgon2MemoryExponent: 16,
} as const

/** The bytes of an armoured text, within the budget. */
export async function unarmoured(text: string): Promise<Uint8Array> {
  const { data } = await openpgp.unarmor(text).catch((error) => {
    throw new Refused(`The text is not OpenPGP in ASCII armour: ${error.message}`)
  })
  const bytes = (await data) as Uint8Array
  const problem = packetProblem(bytes)
  if (problem !== undefined) throw new Refused(`The text is refused: ${problem}`)
  return bytes
}

export async function unlocked(
  privateKey: openpgp.PrivateKey,
  passphrase: string,
): Promise<openpgp.PrivateKey> {
  if (privateKey.isDecrypted()) return privateKey
  try {
    return await openpgp.decryptKey({ privateKey, passphrase, config: LIMITS })
  } catch (error) {
    if (/incorrect key passphrase/i.test((error as Error).message)) {
      throw new WrongPassphrase('The passphrase does not open the private key')
    }
    throw new Refused(`The private key cannot be opened: ${(error as Error).message}`)
  }
}

const MAX_KNOWN = 200
const known = lruMap<string, openpgp.PublicKey>(MAX_KNOWN)

/** A stored public key; a thread keeps the ones that it has parsed. */
export async function storedKey(armored: string): Promise<openpgp.PublicKey> {
  let key = known.get(armored)
  if (!key) {
    key = await openpgp.readKey({ armoredKey: armored, config: LIMITS })
    known.set(armored, key)
  }
  return key
}
