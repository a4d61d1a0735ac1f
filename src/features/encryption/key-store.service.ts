import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { domainOf } from '../../lib/mail-address.ts'
import { ulid } from '../../lib/ulid.ts'
import { isEncrypting, type Method } from './delivery/delivery.repository.ts'
import * as errors from './encryption.errors.ts'
import { EncryptionKeyImported } from './encryption.events.ts'
import { lockAddress } from './encryption.repository.ts'
import type { KeyRepository, KeyRow, StoredKey } from './key-store.repository.ts'
import { isUsable, named } from './keys.ts'
import type { Owner } from './owner.ts'
import type { Whose } from './whose.ts'

const MAX_KEYS = 20

/** OpenPGP keys, or S/MIME certificates. */
interface Kind<Summary extends StoredKey, Full extends StoredKey> {
  method: Method
  /** The purpose under which the vault seals private keys. */
  purpose: string
  repository: KeyRepository<Summary, Full>
  NotFound: new () => Error
}

/** The facts of a key that was read or made. */
interface ReadFacts {
  fingerprint: string
  revoked?: boolean
  /** Locked with the passphrase of its holder. */
  private_key?: string
}

type Save = (tx: Tx, row: KeyRow) => Promise<unknown>

type Needs = Pick<Core, 'change' | 'db' | 'events' | 'now' | 'vault'>

/** The stored keys of one kind: of mailboxes, and of their correspondents. */
export function keyStore<Summary extends StoredKey, Full extends StoredKey>(
  { change, db, events, now, vault }: Needs,
  { method, purpose, repository: keys, NotFound }: Kind<Summary, Full>,
) {
  /** Mail that cannot be encrypted would wait, and then be returned to its senders. */
  async function refuseInUse(tx: Tx, key: { preferred: boolean; account_id: string | null }) {
    if (!key.preferred || key.account_id === null) return
    if (await isEncrypting(tx, key.account_id, method)) throw new errors.KeyInUse()
  }

  async function get(whose: Whose, fingerprint: string, email?: string, tx = db) {
    const found = await keys.find(tx, whose, named(fingerprint), email?.trim().toLowerCase())
    if (!found) throw new NotFound()
    return found
  }

  /** Stores a key in the transaction of the caller. */
  async function store(
    tx: Tx,
    whose: Whose,
    { email, account_id }: Pick<Owner, 'email' | 'account_id'>,
    { fingerprint, revoked = false, private_key }: ReadFacts,
    save: Save,
  ) {
    const { organizationId } = whose
    await lockAddress(tx, organizationId, email)
    const present = await keys.ofAddress(tx, organizationId, email)
    const same = present.find((one) => one.fingerprint === fingerprint)
    if (!same && present.length >= MAX_KEYS) throw new errors.KeysFull({ limit: MAX_KEYS })
    if (same && revoked) await refuseInUse(tx, same)
    const at = now().toISOString()
    await save(tx, {
      id: ulid(),
      organization_id: organizationId,
      email,
      account_id,
      ...(private_key !== undefined && { private_key: vault.seal(purpose, private_key) }),
      created_at: at,
      updated_at: at,
    })
    const stored = await get(whose, fingerprint, email, tx)
    const others = present.filter(({ id }) => id !== stored.id)
    if (!isUsable(stored, now()) || others.some((one) => one.preferred && isUsable(one, now()))) {
      return stored
    }
    await keys.prefer(tx, organizationId, email, stored.id)
    return { ...stored, preferred: true }
  }

  return {
    get,
    store,

    async list(whose: Whose, email: string | undefined, page: Page) {
      const { items, total } = await keys.list(db, whose, email?.trim().toLowerCase(), page)
      return paginated(items, total, page)
    },

    /** The private key as it is locked with the passphrase of its holder. */
    async privateKey(whose: Whose, fingerprint: string) {
      const found = await keys.sealedPrivateKey(db, whose, named(fingerprint))
      if (!found?.private_key) throw new NotFound()
      return {
        fingerprint: found.fingerprint,
        private_key: vault.open(purpose, found.private_key),
      }
    },

    /** A private key needs a mailbox; of a correspondent only the public part is stored. */
    async import(caller: Caller, whose: Whose, owner: Owner, read: ReadFacts, save: Save) {
      const { email, account_id } = owner
      const { fingerprint, private_key } = read
      const has_private = private_key !== undefined
      if (account_id === null && has_private) throw new errors.MailboxNotFound(email)
      return change(caller, async (tx) => {
        const stored = await store(tx, whose, owner, read, save)
        const about = { org_id: whose.organizationId, domain: domainOf(email) }
        const data = { user: email, key_type: method, fingerprint, has_private }
        await events.emit(tx, EncryptionKeyImported, about, data)
        return stored
      })
    },

    async prefer(caller: Caller, whose: Whose, fingerprint: string, email?: string) {
      const { email: address } = await get(whose, fingerprint, email)
      await change(caller, async (tx) => {
        await lockAddress(tx, whose.organizationId, address)
        const found = await get(whose, fingerprint, address, tx)
        if (!isUsable(found, now())) throw new errors.KeyUnusable()
        await keys.prefer(tx, whose.organizationId, address, found.id)
      })
      return get(whose, fingerprint, address)
    },

    /** Removes the key from the named address, or from all addresses that have it. */
    async remove(caller: Caller, whose: Whose, fingerprint: string, email?: string) {
      return change(caller, async (tx) => {
        const address = email?.trim().toLowerCase()
        const found = await keys.findAll(tx, whose, named(fingerprint), address)
        if (found.length === 0) throw new NotFound()
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
  }
}
