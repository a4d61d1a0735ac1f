import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { domainOf, localPartOf } from '../../../lib/mail-address.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { EncryptionKeyGenerated } from '../../domains/domains.events.ts'
import { accepted } from '../answer.ts'
import * as errors from '../encryption.errors.ts'
import type { KeyRow } from '../key-store.repository.ts'
import { keyStore } from '../key-store.service.ts'
import { ownerOf } from '../owner.ts'
import type { Whose } from '../whose.ts'
import { wkdHash } from '../wkd/wkd-hash.ts'
import type { KeyJobs } from './key-jobs.ts'
import { keys, saveKey } from './pgp.repository.ts'
import type { ReadKey } from './read-key.task.ts'

const TIME_LIMIT_MS = 20_000
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
  const { change, db, events, now, workers, keyJobs } = needs
  const { get, list, prefer, privateKey, remove, ...stored } = keyStore(needs, {
    method: 'pgp',
    purpose: PURPOSE,
    repository: keys,
    NotFound: errors.KeyNotFound,
  })

  const save =
    ({ private_key: _, published_key, ...facts }: ReadKey) =>
    (tx: Tx, row: KeyRow) =>
      saveKey(tx, {
        ...facts,
        ...row,
        published_key: Buffer.from(published_key),
        wkd_hash: wkdHash(localPartOf(row.email)),
      })

  async function storeGenerated(tx: Tx, whose: Whose, owner: Mailbox, made: ReadKey) {
    const key = await stored.store(tx, whose, owner, made, save(made))
    const { organizationId: org_id } = whose
    const about = { org_id, domain: domainOf(owner.email) }
    const { fingerprint } = made
    const data = { kind: 'pgp' as const, domain: about.domain, user: owner.email, fingerprint }
    await events.emit(tx, EncryptionKeyGenerated, about, data)
    return key
  }

  return {
    get,
    list,
    prefer,
    privateKey,
    remove,

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
      return stored.import(caller, whose, owner, read, save(read))
    },

    job: (whose: Whose, id: string) => keyJobs.get(whose, id),
  }
}

interface Mailbox {
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
