import type { Core } from '../../../core.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { accepted } from '../answer.ts'
import { counts } from '../counts.ts'
import * as errors from '../encryption.errors.ts'
import { isUsable } from '../keys.ts'
import type { Whose } from '../whose.ts'
import { PURPOSE } from './certificates.service.ts'
import { rootsIn } from './roots.ts'
import { certificates } from './smime.repository.ts'

const TIME_LIMIT_MS = 20_000

const task = taskIn<typeof import('./messages.task.ts')>('features/encryption/smime/messages')

type Needs = Pick<Core, 'config' | 'db' | 'now' | 'vault' | 'workers'>
type Row = Awaited<ReturnType<typeof certificates.ofAddress>>[number]

export type SmimeMessageService = ReturnType<typeof smimeMessageService>

/** Encrypts, decrypts, signs and verifies texts with stored S/MIME certificates. */
export function smimeMessageService({ config, db, now, vault, workers }: Needs) {
  const limitsOf = ({ organizationId }: Whose) => ({
    owner: organizationId,
    timeLimitMs: TIME_LIMIT_MS,
  })

  const ofAddress = ({ organizationId }: Whose, email: string) =>
    certificates.ofAddress(db, organizationId, email.trim().toLowerCase())

  async function recipientCertificate(whose: Whose, email: string): Promise<string> {
    const found = (await ofAddress(whose, email)).find((one) => isUsable(one, now()))
    if (!found) throw new errors.NoKeyFor(email)
    return found.certificate
  }

  /** The roots and stored certificates that a signature of the sender may rely on. */
  async function trustOf(whose: Whose, email: string | undefined) {
    const stored = email === undefined ? [] : await ofAddress(whose, email)
    return {
      roots: await rootsIn(config.DATA_DIR),
      stored: stored.map(({ certificate }) => certificate),
      sender: email?.trim().toLowerCase(),
    }
  }

  /** A holder opens own keys only. */
  async function ownKeys(whose: Whose, email: string, isWanted: (row: Row) => boolean) {
    const found = (await ofAddress(whose, whose.account?.email ?? email)).flatMap((row) =>
      row.private_key && isWanted(row) && (!whose.account || row.account_id === whose.account.id)
        ? [
            {
              certificate: row.certificate,
              chain: row.chain,
              privateKey: vault.open(PURPOSE, row.private_key),
            },
          ]
        : [],
    )
    if (found.length === 0) throw new errors.NoKeyFor(email)
    return found
  }

  return {
    async encrypt(
      whose: Whose,
      sent: {
        recipient_email?: string
        recipients?: string[]
        message: string
        cipher?: 'aes-256-cbc' | 'aes-256-gcm'
      },
    ) {
      const { recipient_email, recipients = [], message, cipher = 'aes-256-cbc' } = sent
      const addresses = [...(recipient_email === undefined ? [] : [recipient_email]), ...recipients]
      if (addresses.length === 0) throw new errors.Refused('Name a recipient')
      const found: string[] = []
      for (const email of new Set(addresses)) found.push(await recipientCertificate(whose, email))
      const input = { kind: 'encrypt' as const, message, certificates: found, cipher, now: now() }
      const { text } = accepted(await workers.run(task, input, limitsOf(whose)))
      counts.encrypted++
      return { encrypted_message: text }
    },

    async decrypt(
      whose: Whose,
      email: string,
      sent: { passphrase: string; encrypted_message: string; sender_email?: string },
    ) {
      const { passphrase, encrypted_message: message } = sent
      const keys = await ownKeys(whose, email, () => true)
      const trust = await trustOf(whose, sent.sender_email)
      const input = { kind: 'decrypt' as const, message, keys, passphrase, trust, now: now() }
      const { text, signatures } = accepted(await workers.run(task, input, limitsOf(whose)))
      counts.decrypted++
      return { message: text, signatures }
    },

    async sign(
      whose: Whose,
      email: string,
      sent: { passphrase: string; message: string; detached?: boolean },
    ) {
      const { passphrase, message, detached: isDetached = false } = sent
      const isSigning = (row: Row) => row.can_sign && new Date(row.expires_at) > now()
      const [key] = await ownKeys(whose, email, isSigning)
      if (!key) throw new errors.NoKeyFor(email)
      const input = { kind: 'sign' as const, message, isDetached, key, passphrase, now: now() }
      const { text } = accepted(await workers.run(task, input, limitsOf(whose)))
      counts.signed++
      return { signed_message: text }
    },

    /** The sender needs no stored certificate: the message has one, and a root vouches for it. */
    async verify(
      whose: Whose,
      sent: { message: string; signature?: string; sender_email: string },
    ) {
      const { message, signature, sender_email } = sent
      const trust = await trustOf(whose, sender_email)
      const input = { kind: 'verify' as const, message, signature, trust, now: now() }
      const { text, signatures } = accepted(await workers.run(task, input, limitsOf(whose)))
      counts.verified++
      const valid = signatures.length > 0 && signatures.every((one) => one.valid)
      return { valid, message: text, signatures }
    },
  }
}
