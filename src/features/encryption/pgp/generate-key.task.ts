import * as openpgp from 'openpgp'
import { type Answer, answer } from '../answer.ts'
import { factsOf, type ReadKey } from './read-key.task.ts'

interface Input {
  email: string
  name: string
  passphrase: string
  /** Undefined for Curve25519. */
  rsaBits?: number | undefined
  /** Undefined for a key that does not expire. */
  expiresInSeconds?: number | undefined
  now: Date
}

/** Makes a key that GnuPG 2.2 reads too: it does not know the newer formats. */
export default (input: Input): Promise<Answer<ReadKey>> =>
  answer(async () => {
    const { email, name, passphrase, rsaBits, expiresInSeconds, now } = input
    const made = await openpgp.generateKey({
      ...(rsaBits === undefined
        ? { type: 'ecc', curve: 'ed25519Legacy' }
        : { type: 'rsa', rsaBits }),
      userIDs: [{ ...(name !== '' && { name }), email }],
      passphrase,
      date: now,
      ...(expiresInSeconds !== undefined && { keyExpirationTime: expiresInSeconds }),
      format: 'object',
    })
    const facts = await factsOf(made.publicKey, email, now)
    return { ...facts, private_key: made.privateKey.armor() }
  })
