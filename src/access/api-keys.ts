import type { Db } from '../database/database.ts'
import { randomToken, sha256 } from '../lib/tokens.ts'
import { ulid } from '../lib/ulid.ts'

export interface NewKey {
  name: string
  organizationId: string | null
  scope: 'organization' | 'platform'
  permissions: Record<string, boolean>
  /** Absent: the permissions apply to the whole API. */
  scopes?: string[]
  createdBy?: string
  expiresAt: Date | null
}

/** Creates a key and returns its secret, which is not stored. */
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
      scopes: key.scopes ?? null,
      created_by: key.createdBy ?? null,
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
      'scopes',
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
