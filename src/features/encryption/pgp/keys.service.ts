import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { domainOf, localPartOf } from '../../../lib/mail-address.ts'
import { ulid } from '../../../lib/ulid.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { EncryptionKeyGenerated } from '../../domains/domains.events.ts'
import { accepted } from '../answer.ts'
import { isEncrypting } from '../delivery/delivery.repository.ts'
import * as errors from '../encryption.errors.ts'
import { EncryptionKeyImported } from '../encryption.events.ts'
import { lockAddress } from '../encryption.repository.ts'
import { isUsable, named } from '../keys.ts'
import { ownerOf } from '../owner.ts'
import type { Whose } from '../whose.ts'
import { wkdHash } from '../wkd/wkd-hash.ts'
import type { KeyJobs } from './key-jobs.ts'
import * as keys from './pgp.repository.ts'
import type { ReadKey } from './read-key.task.ts'

const TIME_LIMIT_MS = 20_000
const MAX_KEYS = 20
export const PURPOSE = 'pgp-private-key'

const readTask = taskIn<typeof import('./read-key.task.ts')>('features/encryption/pgp/read-key')
const generateTask = taskIn<typeof import('./generate-key.task.ts')>(
  'features/encryption/pgp/generate-key',
)

interface NewKey {
  name?: string
  passphrase: string
  key_type?: 'ECC' | 'RSA'
  key_length?: number
  expire_date?: string
}

interface Needs extends Pick<Core, 'change' | 'db' | 'events' | 'now' | 'vault' | 'workers'> {
  keyJobs: KeyJobs
}

export type KeyService = ReturnType<typeof keyService>

/** The OpenPGP keys of mailboxes, and public keys of their correspondents. */
export function keyService(needs: Needs) {
  const { change, db, events, now, vault, workers, keyJobs } = needs

  /** Stores a key in the transaction of the caller. A key that is there already is brought up to date. */
  async function store(
    tx: Tx,
    { organizationId }: Whose,
    { email, account_id }: { email: string; account_id: string | null },
    { private_key, published_key, ...facts }: ReadKey,
  ) {
    await lockAddress(tx, organizationId, email)
    const present = await keys.ofAddress(tx, organizationId, email)
    const at = now().toISOString()
    const row = {
      ...facts,
      account_id,
      published_key: Buffer.from(published_key),
      ...(private_key !== undefined && { private_key: vault.seal(PURPOSE, private_key) }),
      updated_at: at,
    }
    const same = present.find(({ fingerprint }) => fingerprint === facts.fingerprint)
    if (!same && present.length >= MAX_KEYS) throw new errors.KeysFull({ limit: MAX_KEYS })
    const stored = same
      ? await keys.update(tx, same.id, row)
      : await keys.insert(tx, {
          ...row,
          id: ulid(),
          organization_id: organizationId,
          email,
          wkd_hash: wkdHash(localPartOf(email)),
          created_at: at,
        })
    if (facts.revoked && same) await refuseInUse(tx, same)
    const others = present.filter(({ id }) => id !== stored.id)
    if (isUsable(stored, now()) && !others.some((one) => one.preferred && isUsable(one, now()))) {
      await keys.prefer(tx, organizationId, email, stored.id)
      return { ...stored, preferred: true }
    }
    return stored
  }

  /** Mail that cannot be encrypted would wait, and then be returned to its senders. */
  async function refuseInUse(tx: Tx, key: { preferred: boolean; account_id: string | null }) {
    if (!key.preferred || key.account_id === null) return
    if (await isEncrypting(tx, key.account_id, 'pgp')) throw new errors.KeyInUse()
  }

  async function storeGenerated(tx: Tx, whose: Whose, owner: Owner, made: ReadKey) {
    const stored = await store(tx, whose, owner, made)
    const { organizationId: org_id } = whose
    const about = { org_id, domain: domainOf(owner.email) }
    const { fingerprint } = made
    const data = { kind: 'pgp' as const, domain: about.domain, user: owner.email, fingerprint }
    await events.emit(tx, EncryptionKeyGenerated, about, data)
    return stored
  }

  return {
    async list(whose: Whose, email: string | undefined, page: Page) {
      const address = email === undefined ? undefined : email.trim().toLowerCase()
      const { items, total } = await keys.list(db, whose, address, page)
      return paginated(items, total, page)
    },

    async get(whose: Whose, fingerprint: string, email?: string) {
      const found = await keys.find(db, whose, named(fingerprint), email?.trim().toLowerCase())
      if (!found) throw new errors.KeyNotFound()
      return found
    },

    /** The private key as it is locked with the passphrase of its holder. */
    async privateKey(whose: Whose, fingerprint: string) {
      const found = await keys.sealedPrivateKey(db, whose, named(fingerprint))
      if (!found?.private_key) throw new errors.KeyNotFound()
      return {
        fingerprint: found.fingerprint,
        private_key: vault.open(PURPOSE, found.private_key),
      }
    },

    /** Curve25519 at once, as a key; RSA in the background, as a job. */
    async generate(caller: Caller, whose: Whose, sent: string, wanted: NewKey) {
      const { account_id, ...known } = await ownerOf(db, whose, sent)
      if (account_id === null) throw new errors.MailboxNotFound(known.email)
      const owner = { ...known, account_id }
      const { name = owner.name ?? '', passphrase, key_type = 'ECC', key_length = 4096 } = wanted
      const input = {
        email: owner.email,
        name: name.replace(/[\p{Cc}<>()@]+/gu, ' ').trim(),
        passphrase,
        expiresInSeconds: secondsOf(wanted.expire_date ?? '0'),
        now: now(),
      }
      const limits = { owner: whose.organizationId, timeLimitMs: TIME_LIMIT_MS }
      if (key_type === 'ECC') {
        const made = accepted(await workers.run(generateTask, input, limits))
        const key = await change(caller, (tx) => storeGenerated(tx, whose, owner, made))
        return { key }
      }
      const job = await keyJobs.start(caller, whose, owner, {
        make: async (timeLimitMs) => {
          const large = { ...input, rsaBits: key_length }
          return accepted(await workers.run(generateTask, large, { ...limits, timeLimitMs }))
        },
        store: async (tx, made) => {
          await storeGenerated(tx, whose, owner, made)
        },
      })
      return { job }
    },

    async import(
      caller: Caller,
      whose: Whose,
      sent: string,
      { key, passphrase }: { key: string; passphrase?: string },
    ) {
      const owner = await ownerOf(db, whose, sent)
      const present = await keys.ofAddress(db, whose.organizationId, owner.email)
      const known = present.map(({ public_key }) => public_key)
      const input = { key, email: owner.email, passphrase, known, now: now() }
      const limits = { owner: whose.organizationId, timeLimitMs: TIME_LIMIT_MS }
      const read = accepted(await workers.run(readTask, input, limits))
      // A private key needs a mailbox; of a correspondent only the public key is stored.
      if (owner.account_id === null && read.private_key !== undefined) {
        throw new errors.MailboxNotFound(owner.email)
      }
      return change(caller, async (tx) => {
        const stored = await store(tx, whose, owner, read)
        const about = { org_id: whose.organizationId, domain: domainOf(owner.email) }
        await events.emit(tx, EncryptionKeyImported, about, {
          user: owner.email,
          key_type: 'pgp',
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
        const found = await keys.find(tx, whose, named(fingerprint), address)
        if (!found) throw new errors.KeyNotFound()
        if (!isUsable(found, now())) throw new errors.KeyUnusable()
        await keys.prefer(tx, whose.organizationId, address, found.id)
      })
      return this.get(whose, fingerprint, address)
    },

    /** Removes the key from the named address, or from all addresses that have it. */
    async remove(caller: Caller, whose: Whose, fingerprint: string, email?: string) {
      const address = email?.trim().toLowerCase()
      return change(caller, async (tx) => {
        const found = await keys.findAll(tx, whose, named(fingerprint), address)
        if (found.length === 0) throw new errors.KeyNotFound()
        for (const one of found) {
          await lockAddress(tx, one.organization_id, one.email)
          await refuseInUse(tx, one)
          await keys.remove(tx, one.id)
          const left = await keys.ofAddress(tx, one.organization_id, one.email)
          const next = left.find((other) => isUsable(other, now()))
          if (next && !left.some(({ preferred }) => preferred)) {
            await keys.prefer(tx, one.organization_id, one.email, next.id)
          }
        }
        return { fingerprint: named(fingerprint), deleted: found.length }
      })
    },

    job: (whose: Whose, id: string) => keyJobs.get(whose, id),
  }
}

interface Owner {
  email: string
  account_id: string
}

const DAY_SECONDS = 86_400
const UNITS: Record<string, number> = { d: 1, w: 7, m: 30, y: 365 }

function secondsOf(text: string): number | undefined {
  if (text === '0') return undefined
  const days = Number(text.slice(0, -1)) * (UNITS[text.slice(-1)] ?? 0)
  // OpenPGP has 32 bits for it.
  return Math.min(days * DAY_SECONDS, 2 ** 32 - 1)
}
