import type { Core } from '../../../core.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { accepted } from '../answer.ts'
import { counts } from '../counts.ts'
import * as errors from '../encryption.errors.ts'
import { isUsable } from '../keys.ts'
import type { Whose } from '../whose.ts'
import { PURPOSE } from './keys.service.ts'
import { keys } from './pgp.repository.ts'

const TIME_LIMIT_MS = 20_000

const task = taskIn<typeof import('./messages.task.ts')>('features/encryption/pgp/messages')

type Needs = Pick<Core, 'db' | 'now' | 'vault' | 'workers'>

export type MessageService = ReturnType<typeof messageService>

/** Encrypts, decrypts, signs and verifies texts with stored OpenPGP keys. */
export function messageService({ db, now, vault, workers }: Needs) {
  const limitsOf = ({ organizationId }: Whose) => ({
    owner: organizationId,
    timeLimitMs: TIME_LIMIT_MS,
  })

  const ofAddress = ({ organizationId }: Whose, email: string) =>
    keys.ofAddress(db, organizationId, email.trim().toLowerCase())

  async function recipientKey(whose: Whose, email: string): Promise<string> {
    const found = (await ofAddress(whose, email)).find((one) => isUsable(one, now()))
    if (!found) throw new errors.NoKeyFor(email)
    return found.public_key
  }

  /** Public keys that may have made a signature, also old ones. */
  const senderKeys = async (whose: Whose, email: string | undefined) =>
    email === undefined ? [] : (await ofAddress(whose, email)).map(({ public_key }) => public_key)

  /** A holder opens own keys only. */
  async function privateKeys(whose: Whose, email: string): Promise<string[]> {
    const found = (await ofAddress(whose, whose.account?.email ?? email)).flatMap((one) =>
      one.private_key && (!whose.account || one.account_id === whose.account.id)
        ? [vault.open(PURPOSE, one.private_key)]
        : [],
    )
    if (found.length === 0) throw new errors.NoKeyFor(email)
    return found
  }

  return {
    async encrypt(
      whose: Whose,
      sent: { recipient_email?: string; recipients?: string[]; message: string },
    ) {
      const { recipient_email, recipients = [], message } = sent
      const addresses = [...(recipient_email === undefined ? [] : [recipient_email]), ...recipients]
      if (addresses.length === 0) throw new errors.Refused('Name a recipient')
      const publicKeys: string[] = []
      for (const email of new Set(addresses)) publicKeys.push(await recipientKey(whose, email))
      const input = { kind: 'encrypt' as const, message, publicKeys, now: now() }
      const { text } = accepted(await workers.run(task, input, limitsOf(whose)))
      counts.encrypted++
      return { encrypted_message: text }
    },

    /** Tries the keys of the address in turn: a message does not always say whose it is. */
    async decrypt(
      whose: Whose,
      email: string,
      sent: { passphrase: string; encrypted_message: string; sender_email?: string },
    ) {
      const publicKeys = await senderKeys(whose, sent.sender_email)
      const { passphrase, encrypted_message: message } = sent
      let refusal: unknown
      for (const privateKey of await privateKeys(whose, email)) {
        const opened = { privateKey, passphrase }
        const input = { kind: 'decrypt' as const, message, opened, publicKeys, now: now() }
        try {
          const { text, signatures } = accepted(await workers.run(task, input, limitsOf(whose)))
          counts.decrypted++
          return { message: text, signatures }
        } catch (error) {
          if (!(error instanceof errors.Refused || error instanceof errors.WrongPassphrase)) {
            throw error
          }
          refusal ??= error
        }
      }
      throw refusal
    },

    async sign(
      whose: Whose,
      email: string,
      sent: { passphrase: string; message: string; detached?: boolean },
    ) {
      const { passphrase, message, detached: isDetached = false } = sent
      const [privateKey = ''] = await privateKeys(whose, email)
      const opened = { privateKey, passphrase }
      const input = { kind: 'sign' as const, message, isDetached, opened, publicKeys: [] }
      const { text } = accepted(await workers.run(task, { ...input, now: now() }, limitsOf(whose)))
      counts.signed++
      return { signed_message: text }
    },

    async verify(
      whose: Whose,
      {
        message,
        signature,
        sender_email,
      }: { message: string; signature?: string; sender_email: string },
    ) {
      const publicKeys = await senderKeys(whose, sender_email)
      if (publicKeys.length === 0) throw new errors.NoKeyFor(sender_email)
      const input = { kind: 'verify' as const, message, signature, publicKeys, now: now() }
      const { text, signatures } = accepted(await workers.run(task, input, limitsOf(whose)))
      counts.verified++
      const valid = signatures.length > 0 && signatures.every((one) => one.valid)
      return { valid, message: text, signatures }
    },
  }
}
