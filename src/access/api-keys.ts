import { sql } from 'kysely'
import type { Db } from '../database/database.ts'
import { randomToken, sha256 } from '../lib/tokens.ts'
import { ulid } from '../lib/ulid.ts'

export interface NewKey {
  name: string
  organizationId: string | null
  scope: 'organization' | 'platform'
  permissions: Record<string, boolean>
  expiresAt: Date | null
}

/** The only moment at which the key itself is known. */
export async function issueKey(db: Db, key: NewKey) {
  const id = ulid()
  const secret = randomToken()
  const keyId = `${secret.slice(0, 8)}_${id}`
  await db
    .insertInto('api_keys')
    .values({
      id,
      key_id: keyId,
      key_hash: sha256(secret),
      name: key.name,
      permissions: key.permissions,
      organization_id: key.organizationId,
      scope: key.scope,
      expires_at: key.expiresAt?.toISOString() ?? null,
    })
    .execute()
  return {
    key_id: keyId,
    api_key: secret,
    organization_id: key.organizationId,
    scope: key.scope,
    permissions: key.permissions,
    expires_at: key.expiresAt?.toISOString() ?? null,
  }
}

export const listKeys = (db: Db, organizationId?: string) =>
  db
    .selectFrom('api_keys')
    .select([
      'key_id',
      'name',
      'organization_id',
      'scope',
      'permissions',
      'active',
      'expires_at',
      'last_used',
      'created_at',
    ])
    .$if(organizationId !== undefined, (query) =>
      query.where('organization_id', '=', organizationId as string),
    )
    .orderBy('created_at')
    .orderBy('id')
    .execute()

/** False when there is no such key; revoking twice is fine. */
export async function revokeKey(db: Db, keyId: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_keys')
    .set({ active: sql`false` })
    .where('key_id', '=', keyId)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
