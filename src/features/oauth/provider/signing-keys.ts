import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import type { JWK } from 'oidc-provider'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'

const PURPOSE = 'oauth signing key'
const LOCK = 'oauth signing key'
const BITS = 2048

/** The life of an identity token. */
export const ID_TOKEN_SECONDS = 3600
/** A new key is published this long before it signs, so that every process and program knows it. */
const LEAD_MS = HOUR_MS
/** A replaced key stays published until its last token has ended, with a reserve for wrong clocks. */
const KEPT_MS = ID_TOKEN_SECONDS * 1000 + DAY_MS

type Needs = Pick<Core, 'db' | 'now' | 'vault'>

/** The published keys. The first one signs. The first process creates a key. */
export async function signingKeys({ db, now, vault }: Needs): Promise<JWK[]> {
  const read = () =>
    db
      .selectFrom('oauth_keys')
      .select(['id', 'private_key', 'created_at'])
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .execute()
  let rows = await read()
  if (rows.length === 0) {
    await inTurn({ db }, async (tx) => {
      const existing = await tx.selectFrom('oauth_keys').select('id').execute()
      if (existing.length === 0) await insertKey(tx, { now, vault })
    })
    rows = await read()
  }
  const since = now().getTime() - LEAD_MS
  const signing = rows.find(({ created_at }) => Date.parse(created_at) <= since) ?? rows.at(-1)
  const ordered = [...rows].sort(
    (one, other) => Number(other === signing) - Number(one === signing),
  )
  return ordered.map(({ id, private_key }) => ({
    ...JSON.parse(vault.open(PURPOSE, private_key)),
    kid: id,
    use: 'sig',
    alg: 'RS256',
  }))
}

/** Adds a key when the newest is too old, and deletes keys whose tokens have all ended. */
export async function rotateKeys(core: Needs & Pick<Core, 'config'>): Promise<void> {
  const { config, db, now } = core
  const days = config.OAUTH_KEY_DAYS
  await inTurn(core, async (tx) => {
    const newest = await tx
      .selectFrom('oauth_keys')
      .select('created_at')
      .orderBy('created_at', 'desc')
      .limit(1)
      .executeTakeFirst()
    const oldest = now().getTime() - days * DAY_MS
    if (days > 0 && newest && Date.parse(newest.created_at) <= oldest) await insertKey(tx, core)
  })
  await sql`
    delete from oauth_keys old using oauth_keys next
    where next.created_at > old.created_at
      and next.created_at <= ${new Date(now().getTime() - LEAD_MS - KEPT_MS)}`.execute(db)
}

const inTurn = ({ db }: Pick<Core, 'db'>, work: (tx: Tx) => Promise<void>): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${LOCK}, 0))`.execute(tx)
    await work(tx)
  })

async function insertKey(tx: Tx, { now, vault }: Pick<Core, 'now' | 'vault'>): Promise<void> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: BITS })
  const jwk = JSON.stringify(privateKey.export({ format: 'jwk' }))
  await tx
    .insertInto('oauth_keys')
    .values({ id: ulid(), private_key: vault.seal(PURPOSE, jwk), created_at: now().toISOString() })
    .execute()
}
