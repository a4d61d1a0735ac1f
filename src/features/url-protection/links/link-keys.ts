import { createSecretKey, type KeyObject } from 'node:crypto'
import type { Core } from '../../../core.ts'
import type { Db } from '../../../database/database.ts'
import { DAY_MS } from '../../../lib/time.ts'
import type { Vault } from '../../../lib/vault.ts'
import type { LinkKey } from './safe-links.ts'

/** Links of a retired key lead to their address for this long. */
const VERIFIES_MS = 365 * DAY_MS

interface KeyRow {
  id: number
  created_at: string
  retired_at: string | null
}

export const listKeys = (db: Db): Promise<KeyRow[]> =>
  db
    .selectFrom('url_keys')
    .select(['id', 'created_at', 'retired_at'])
    .orderBy('id', 'desc')
    .execute()

/** The moment when links of a retired key end. */
export const endOf = (retiredAt: string): Date => new Date(Date.parse(retiredAt) + VERIFIES_MS)

const secretOf = (vault: Pick<Vault, 'fingerprint'>, id: number): KeyObject =>
  createSecretKey(vault.fingerprint('safe link key', String(id)), 'hex')

/** The key that signs new links. */
export async function signingKey({ db, vault }: Pick<Core, 'db' | 'vault'>): Promise<LinkKey> {
  const { id } = await db
    .selectFrom('url_keys')
    .select('id')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  return { id, secret: secretOf(vault, id) }
}

/** The keys that are not too old, in memory: a link is verified without the database. */
export function verifyingKeys({ now, vault }: Pick<Core, 'now' | 'vault'>) {
  let known = new Map<number, { key: LinkKey; end: number }>()
  return {
    async load(db: Db): Promise<void> {
      const rows = await listKeys(db)
      known = new Map(
        rows.map(({ id, retired_at }) => [
          id,
          {
            key: { id, secret: secretOf(vault, id) },
            end: retired_at === null ? Number.POSITIVE_INFINITY : endOf(retired_at).getTime(),
          },
        ]),
      )
    },
    keyOf(id: number): LinkKey | undefined {
      const found = known.get(id)
      return found && now().getTime() < found.end ? found.key : undefined
    },
  }
}
