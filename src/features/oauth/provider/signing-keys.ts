import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import type { JWK } from 'oidc-provider'
import type { Core } from '../../../core.ts'
import { ulid } from '../../../lib/ulid.ts'

const PURPOSE = 'oauth signing key'
const LOCK = 'oauth signing key'
const BITS = 2048

/** The keys that sign identity tokens, the newest first. The first process creates one. */
export async function signingKeys({ db, vault }: Pick<Core, 'db' | 'vault'>): Promise<JWK[]> {
  const read = () =>
    db
      .selectFrom('oauth_keys')
      .select(['id', 'private_key'])
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .execute()
  let rows = await read()
  if (rows.length === 0) {
    await db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${LOCK}, 0))`.execute(tx)
      const existing = await tx.selectFrom('oauth_keys').select('id').execute()
      if (existing.length > 0) return
      const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: BITS })
      const jwk = JSON.stringify(privateKey.export({ format: 'jwk' }))
      await tx
        .insertInto('oauth_keys')
        .values({ id: ulid(), private_key: vault.seal(PURPOSE, jwk) })
        .execute()
    })
    rows = await read()
  }
  return rows.map(({ id, private_key }) => ({
    ...JSON.parse(vault.open(PURPOSE, private_key)),
    kid: id,
    use: 'sig',
    alg: 'RS256',
  }))
}
