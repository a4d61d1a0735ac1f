import * as openpgp from 'openpgp'
import { type Answer, answer, Refused } from '../answer.ts'
import { LIMITS, storedKey, unarmoured, unlocked } from './openpgp.ts'

/** A stored private key with what opens it. */
interface Opened {
  privateKey: string
  passphrase: string
}

type Input = { now: Date; publicKeys: string[] } & (
  | { kind: 'encrypt'; message: string; signer?: Opened | undefined }
  | { kind: 'decrypt'; message: string; opened: Opened }
  | { kind: 'sign'; message: string; isDetached: boolean; opened: Opened }
  | { kind: 'verify'; message: string; signature?: string | undefined }
)

export interface SignatureFound {
  key_id: string
  valid: boolean
  problem: string | null
}

interface Done {
  text: string
  signatures: SignatureFound[]
}

/** Encrypts, decrypts, signs or verifies one text. */
export default (input: Input): Promise<Answer<Done>> =>
  answer(async () => {
    const date = input.now
    const keys = await Promise.all(input.publicKeys.map(storedKey))
    switch (input.kind) {
      case 'encrypt':
        return made(
          await openpgp
            .encrypt({
              message: await openpgp.createMessage({ text: input.message, date }),
              encryptionKeys: keys,
              ...(input.signer && { signingKeys: await privateKeyOf(input.signer) }),
              date,
            })
            .catch(refusing('The message cannot be encrypted')),
        )
      case 'decrypt':
        return decrypted(input.message, await privateKeyOf(input.opened), keys, date)
      case 'sign':
        return made(await signed(input.message, input.isDetached, input.opened, date))
      case 'verify':
        return verified(input.message, input.signature, keys, date)
    }
  })

const made = (text: string): Done => ({ text, signatures: [] })

const refusing = (what: string) => (error: Error) => {
  throw new Refused(`${what}: ${error.message}`)
}

const privateKeyOf = async ({ privateKey, passphrase }: Opened) =>
  unlocked(await openpgp.readPrivateKey({ armoredKey: privateKey, config: LIMITS }), passphrase)

async function decrypted(
  text: string,
  key: openpgp.PrivateKey,
  verificationKeys: openpgp.PublicKey[],
  date: Date,
): Promise<Done> {
  const binaryMessage = await unarmoured(text)
  const message = await openpgp
    .readMessage({ binaryMessage, config: LIMITS })
    .catch(refusing('The message cannot be read'))
  const { data, signatures } = await openpgp
    .decrypt({ message, decryptionKeys: key, verificationKeys, date, config: LIMITS })
    .catch(refusing('The message cannot be decrypted'))
  return { text: String(data), signatures: await checked(signatures) }
}

async function signed(
  text: string,
  isDetached: boolean,
  opened: Opened,
  date: Date,
): Promise<string> {
  const signingKeys = await privateKeyOf(opened)
  const failed = refusing('The message cannot be signed')
  if (!isDetached) {
    const message = await openpgp.createCleartextMessage({ text })
    return openpgp.sign({ message, signingKeys, date }).catch(failed)
  }
  const message = await openpgp.createMessage({ binary: Buffer.from(text), date })
  return (await openpgp
    .sign({ message, signingKeys, date, detached: true })
    .catch(failed)) as string
}

async function verified(
  text: string,
  armoredSignature: string | undefined,
  verificationKeys: openpgp.PublicKey[],
  date: Date,
): Promise<Done> {
  const unreadable = refusing('The signature cannot be read')
  if (armoredSignature !== undefined) {
    const binarySignature = await unarmoured(armoredSignature)
    const signature = await openpgp.readSignature({ binarySignature }).catch(unreadable)
    const message = await openpgp.createMessage({ binary: Buffer.from(text) })
    const found = await openpgp.verify({
      message,
      signature,
      verificationKeys,
      date,
      format: 'binary',
    })
    return { text, signatures: await checked(found.signatures) }
  }
  const message = await openpgp.readCleartextMessage({ cleartextMessage: text }).catch(unreadable)
  const found = await openpgp.verify({ message, verificationKeys, date })
  return { text: found.data, signatures: await checked(found.signatures) }
}

const checked = (
  found: { keyID: openpgp.KeyID; verified: Promise<unknown> }[],
): Promise<SignatureFound[]> =>
  Promise.all(
    found.map(async ({ keyID, verified }) => {
      const problem = await verified.then(
        () => null,
        (error: Error) => error.message,
      )
      return { key_id: keyID.toHex().toUpperCase(), valid: problem === null, problem }
    }),
  )
