import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { domainOf } from '../../../lib/mail-address.ts'
import { ulid } from '../../../lib/ulid.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { accepted } from '../answer.ts'
import { isEncrypting } from '../delivery/delivery.repository.ts'
import * as errors from '../encryption.errors.ts'
import { EncryptionKeyImported } from '../encryption.events.ts'
import { lockAddress } from '../encryption.repository.ts'
import { isUsable, named } from '../keys.ts'
import { type Owner, ownerOf } from '../owner.ts'
import type { Whose } from '../whose.ts'
import type { ReadCertificate } from './read-certificate.task.ts'
import * as certificates from './smime.repository.ts'

const TIME_LIMIT_MS = 20_000
const MAX_CERTIFICATES = 20
export const PURPOSE = 'smime-private-key'

const readTask = taskIn<typeof import('./read-certificate.task.ts')>(
  'features/encryption/smime/read-certificate',
)

interface NewCertificate {
  certificate?: string
  pkcs12?: string
  passphrase?: string
  new_passphrase?: string
}

type Needs = Pick<Core, 'change' | 'db' | 'events' | 'now' | 'vault' | 'workers'>

export type CertificateService = ReturnType<typeof certificateService>

/** The S/MIME certificates of mailboxes and of their correspondents. */
export function certificateService({ change, db, events, now, vault, workers }: Needs) {
  /** Stores a certificate in the transaction of the caller. */
  async function store(
    tx: Tx,
    { organizationId }: Whose,
    { email, account_id }: Owner,
    { private_key, ...facts }: ReadCertificate,
  ) {
    await lockAddress(tx, organizationId, email)
    const present = await certificates.ofAddress(tx, organizationId, email)
    const at = now().toISOString()
    const row = {
      ...facts,
      account_id,
      ...(private_key !== undefined && { private_key: vault.seal(PURPOSE, private_key) }),
      updated_at: at,
    }
    const same = present.find(({ fingerprint }) => fingerprint === facts.fingerprint)
    if (!same && present.length >= MAX_CERTIFICATES) {
      throw new errors.KeysFull({ limit: MAX_CERTIFICATES })
    }
    const stored = same
      ? await certificates.update(tx, same.id, row)
      : await certificates.insert(tx, {
          ...row,
          id: ulid(),
          organization_id: organizationId,
          email,
          created_at: at,
        })
    const others = present.filter(({ id }) => id !== stored.id)
    if (isUsable(stored, now()) && !others.some((one) => one.preferred && isUsable(one, now()))) {
      await certificates.prefer(tx, organizationId, email, stored.id)
      return { ...stored, preferred: true }
    }
    return stored
  }

  /** Mail that cannot be encrypted would wait, and then be returned to its senders. */
  async function refuseInUse(tx: Tx, one: { preferred: boolean; account_id: string | null }) {
    if (!one.preferred || one.account_id === null) return
    if (await isEncrypting(tx, one.account_id, 'smime')) throw new errors.KeyInUse()
  }

  return {
    async list(whose: Whose, email: string | undefined, page: Page) {
      const address = email === undefined ? undefined : email.trim().toLowerCase()
      const { items, total } = await certificates.list(db, whose, address, page)
      return paginated(items, total, page)
    },

    async get(whose: Whose, fingerprint: string, email?: string) {
      const address = email?.trim().toLowerCase()
      const found = await certificates.find(db, whose, named(fingerprint), address)
      if (!found) throw new errors.CertificateNotFound()
      return found
    },

    /** The private key as it is locked with the passphrase of its holder. */
    async privateKey(whose: Whose, fingerprint: string) {
      const found = await certificates.sealedPrivateKey(db, whose, named(fingerprint))
      if (!found?.private_key) throw new errors.CertificateNotFound()
      return {
        fingerprint: found.fingerprint,
        private_key: vault.open(PURPOSE, found.private_key),
      }
    },

    async import(caller: Caller, whose: Whose, email: string, sent: NewCertificate) {
      const { certificate, pkcs12, passphrase, new_passphrase: newPassphrase } = sent
      if ((certificate === undefined) === (pkcs12 === undefined)) {
        throw new errors.Refused('Send a certificate or a PKCS #12 file')
      }
      const owner = await ownerOf(db, whose, email)
      const input = { email: owner.email, certificate, pkcs12, passphrase, newPassphrase }
      const limits = { owner: whose.organizationId, timeLimitMs: TIME_LIMIT_MS }
      const read = accepted(await workers.run(readTask, { ...input, now: now() }, limits))
      // A private key needs a mailbox; of a correspondent only the certificate is stored.
      if (owner.account_id === null && read.private_key !== undefined) {
        throw new errors.MailboxNotFound(owner.email)
      }
      return change(caller, async (tx) => {
        const stored = await store(tx, whose, owner, read)
        const about = { org_id: whose.organizationId, domain: domainOf(owner.email) }
        await events.emit(tx, EncryptionKeyImported, about, {
          user: owner.email,
          key_type: 'smime',
          fingerprint: read.fingerprint,
          has_private: read.private_key !== undefined,
        })
        return stored
      })
    },

    async prefer(caller: Caller, whose: Whose, fingerprint: string, email?: string) {
      const { email: address } = await this.get(whose, fingerprint, email)
      await change(caller, async (tx) => {
        await lockAddress(tx, whose.organizationId, address)
        const found = await certificates.find(tx, whose, named(fingerprint), address)
        if (!found) throw new errors.CertificateNotFound()
        if (!isUsable(found, now())) throw new errors.KeyUnusable()
        await certificates.prefer(tx, whose.organizationId, address, found.id)
      })
      return this.get(whose, fingerprint, address)
    },

    /** Removes the certificate from the named address, or from all addresses that have it. */
    async remove(caller: Caller, whose: Whose, fingerprint: string, email?: string) {
      const address = email?.trim().toLowerCase()
      return change(caller, async (tx) => {
        const found = await certificates.findAll(tx, whose, named(fingerprint), address)
        if (found.length === 0) throw new errors.CertificateNotFound()
        for (const one of found) {
          await lockAddress(tx, one.organization_id, one.email)
          await refuseInUse(tx, one)
          await certificates.remove(tx, one.id)
          const left = await certificates.ofAddress(tx, one.organization_id, one.email)
          const next = left.find((other) => isUsable(other, now()))
          if (next && !left.some(({ preferred }) => preferred)) {
            await certificates.prefer(tx, one.organization_id, one.email, next.id)
          }
        }
        return { fingerprint: named(fingerprint), deleted: found.length }
      })
    },
  }
}
