import { actorOf } from '../../access/actor.ts'
import type { Caller } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import { ulid } from '../../lib/ulid.ts'

export type CredentialEvent =
  | 'created'
  | 'updated'
  | 'rotated'
  | 'revoked'
  | 'enabled'
  | 'deleted'
  | 'suspended'

interface Credential {
  id: string
  organization_id: string
  username: string
}

/** Appends to the trail that outlives credential and organization. */
export const recordCredentialEvent = (
  tx: Tx,
  caller: Caller,
  event: CredentialEvent,
  credentials: Credential[],
  now: Date,
  detail: object | null = null,
) =>
  tx
    .insertInto('smtp_credential_events')
    .values(
      credentials.map(({ id, organization_id, username }) => ({
        id: ulid(),
        credential_id: id,
        organization_id,
        username,
        event,
        actor: actorOf(caller),
        source_ip: caller.ip,
        detail: detail === null ? null : JSON.stringify(detail),
        created_at: now.toISOString(),
      })),
    )
    .execute()

/** Removes the logins of a domain, the trail first; answers their names, whose cache must be flushed. */
export async function removeCredentialsOf(
  tx: Tx,
  caller: Caller,
  domainId: string,
  now: Date,
): Promise<string[]> {
  const gone = await credentialsOf(tx, domainId)
  if (gone.length > 0) await recordCredentialEvent(tx, caller, 'deleted', gone, now)
  await tx.deleteFrom('smtp_credentials').where('domain_id', '=', domainId).execute()
  return gone.map(({ username }) => username)
}

const credentialsOf = (db: Db, domainId: string) =>
  db
    .selectFrom('smtp_credentials')
    .select(['id', 'organization_id', 'username'])
    .where('domain_id', '=', domainId)
    .execute()
