import { type Mail, TryLater } from '../../../content/stage.ts'
import type { Core } from '../../../core.ts'
import type { Db } from '../../../database/database.ts'
import { aliasTargets } from '../../../hosting/alias-targets.repository.ts'
import { withoutDetail } from '../../../lib/mail-address.ts'
import { bufferOf, forThread } from '../../../lib/shared-bytes.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { anyEncrypts, type Encrypting, encryptingAmong } from './delivery.repository.ts'

const TIME_LIMIT_MS = 60_000
/** Aliases may lead to aliases; Postfix ends a longer chain too. */
const MAX_DEPTH = 20
const NOT_NOW = 'a recipient has encrypted delivery, and the message cannot be encrypted now'

const pgpTask = taskIn<typeof import('./encrypt-with-pgp.task.ts')>(
  'features/encryption/delivery/encrypt-with-pgp',
)
const smimeTask = taskIn<typeof import('./encrypt-with-smime.task.ts')>(
  'features/encryption/delivery/encrypt-with-smime',
)

type Needs = Pick<Core, 'db' | 'log' | 'now' | 'workers'>

/**
 * Encrypts mail for recipients whose mailboxes ask for it. It is the last step before Postfix, after the
 * stages of all organizations, and applies to redirected and released mail too. A message that cannot be
 * encrypted is deferred: it never arrives as plain text.
 */
export const encryptDelivery =
  (core: Needs) =>
  async (mail: Mail): Promise<Mail[]> => {
    const { db, log } = core
    if (!(await anyEncrypts(db))) return [mail]
    const { plain, encrypting } = await divided(db, mail.recipients)
    if (encrypting.length === 0) return [mail]
    const mails: Mail[] = plain.length > 0 ? [{ ...mail, recipients: plain }] : []
    for (const [recipient, mailbox] of encrypting) {
      const message = await encrypted(core, mail.message, mailbox).catch((error) => {
        const { organization_id: organization } = mailbox
        log.error({ err: error, organization, alert: true }, 'mail not encrypted, deferred')
        throw new TryLater(NOT_NOW)
      })
      mails.push({ ...mail, message, recipients: [recipient] })
    }
    return mails
  }

async function encrypted(
  { now, workers }: Needs,
  message: MimeMessage,
  { organization_id, method, public_key, expires_at, revoked }: Encrypting,
): Promise<MimeMessage> {
  if (public_key === null || revoked) throw new Error('the mailbox has no usable key')
  const hasExpired = expires_at !== null && new Date(expires_at) <= now()
  const at = hasExpired ? new Date(new Date(expires_at).getTime() - 1000) : now()
  const input = { raw: forThread(message.raw), publicKey: public_key, at }
  const limits = { owner: organization_id, timeLimitMs: TIME_LIMIT_MS }
  const done =
    method === 'pgp'
      ? await workers.run(pgpTask, input, limits)
      : await workers.run(smimeTask, input, limits)
  return done ? new MimeMessage(bufferOf(done)) : message
}

interface Divided {
  plain: string[]
  /** The address to deliver to, and the mailbox behind it. */
  encrypting: [recipient: string, mailbox: Encrypting][]
}

/** An alias is resolved when one of the mailboxes behind it encrypts; otherwise Postfix does it. */
async function divided(db: Db, recipients: readonly string[]): Promise<Divided> {
  const targets = await targetsOf(db, recipients)
  const all = [...targets.values()].flat()
  const found = await encryptingAmong(db, [...new Set(all.map(withoutDetail))])
  const plain = new Set<string>()
  const encrypting = new Map<string, [string, Encrypting]>()
  for (const recipient of recipients) {
    const own = targets.get(recipient) ?? []
    if (!own.some((one) => found.has(withoutDetail(one)))) {
      plain.add(recipient)
      continue
    }
    for (const address of own) {
      const mailbox = found.get(withoutDetail(address))
      const isDirect = address === recipient.toLowerCase()
      if (!mailbox) plain.add(address)
      else if (isDirect || !encrypting.has(mailbox.email)) {
        encrypting.set(mailbox.email, [isDirect ? recipient : address, mailbox])
      }
    }
  }
  return { plain: [...plain], encrypting: [...encrypting.values()] }
}

/** The addresses that Postfix would deliver each recipient to. */
async function targetsOf(db: Db, recipients: readonly string[]): Promise<Map<string, string[]>> {
  const results = new Map(recipients.map((one) => [one, new Set<string>()]))
  let open = recipients.map((root) => ({ root, address: root.toLowerCase() }))
  for (let depth = 0; open.length > 0 && depth < MAX_DEPTH; depth++) {
    const targets = await aliasTargets(db, [...new Set(open.map(({ address }) => address))])
    const next: typeof open = []
    for (const { root, address } of open) {
      for (const target of targets.get(address) ?? [address]) {
        if (target === address) results.get(root)?.add(target)
        else next.push({ root, address: target.toLowerCase() })
      }
    }
    open = next
  }
  for (const { root, address } of open) results.get(root)?.add(address)
  return new Map([...results].map(([root, addresses]) => [root, [...addresses]]))
}
