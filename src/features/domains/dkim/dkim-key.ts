import { generateKeyPair } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { limiter } from '../../../lib/mutex.ts'

export const DKIM_KEY_BITS = 2048

// Generating a key keeps a core busy, so at most one runs per core.
const limit = limiter(availableParallelism())

/** A new RSA pair: the public half as DNS publishes it, the private one as PEM. */
export async function newDkimKey(): Promise<{ publicKey: string; privateKey: string }> {
  const pair = await limit(() =>
    promisify(generateKeyPair)('rsa', {
      modulusLength: DKIM_KEY_BITS,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    }),
  )
  return { publicKey: pair.publicKey.toString('base64'), privateKey: pair.privateKey }
}

/** The purpose under which the vault seals private keys. */
export const DKIM_PURPOSE = 'dkim private key'
