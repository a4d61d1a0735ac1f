import { actorOf } from '../access/actor.ts'
import type { Caller } from '../access/caller.ts'
import type { Tx } from '../database/database.ts'
import { ulid } from '../lib/ulid.ts'

export const CREDENTIAL_EVENTS = [
  'created',
  'updated',
  'rotated',
  'revoked',
  'enabled',
  'deleted',
  'suspended',
] as const
type CredentialEvent = (typeof CREDENTIAL_EVENTS)[number]

// PostgreSQL takes 65535 parameters per statement; a row has nine.
const ROWS_PER_INSERT = 5000

interface Credential {
  id: string
  organization_id: string
  username: string
}

/** Appends to the audit trail, which outlives the credential and its organization. */
export const recordCredentialEvent = (
  tx: Tx,
  caller: Caller,
  event: CredentialEvent,
  credentials: Credential[],
  now: Date,
  detail: object | null = null,
): Promise<void> => recordEventOfActor(tx, trailActor(caller), event, credentials, now, detail)

export const trailActor = (caller: Caller) => ({ actor: actorOf(caller), source_ip: caller.ip })

/** Appends a change that no API caller made. */
export async function recordEventOfActor(
  tx: Tx,
  by: { actor: string; source_ip: string },
  event: CredentialEvent,
  credentials: Credential[],
  now: Date,
  detail: object | null = null,
): Promise<void> {
  const rows = credentials.map(({ id, organization_id, username }) => ({
    id: ulid(),
    credential_id: id,
    organization_id,
    username,
    event,
    ...by,
    detail: detail === null ? null : JSON.stringify(detail),
    created_at: now.toISOString(),
  }))
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    await tx
      .insertInto('smtp_credential_events')
      .values(rows.slice(start, start + ROWS_PER_INSERT))
      .execute()
  }
}

/** Deletes the credentials of a domain and returns their usernames, whose cached logins must be flushed. */
export const removeCredentialsOf = (tx: Tx, caller: Caller, domainId: string, now: Date) =>
  removeCredentialsBy(tx, trailActor(caller), domainId, now)

/** Like removeCredentialsOf, for a deletion that no API caller made. */
export async function removeCredentialsBy(
  tx: Tx,
  by: { actor: string; source_ip: string },
  domainId: string,
  now: Date,
): Promise<string[]> {
  const gone = await lockCredentialsOf(tx, domainId)
  await recordEventOfActor(tx, by, 'deleted', gone, now)
  await tx.deleteFrom('smtp_credentials').where('domain_id', '=', domainId).execute()
  return gone.map(({ username }) => username)
}

// Locked, so that a concurrent deletion is not recorded twice.
const lockCredentialsOf = (tx: Tx, domainId: string) =>
  tx
    .selectFrom('smtp_credentials')
    .select(['id', 'organization_id', 'username'])
    .where('domain_id', '=', domainId)
    .orderBy('id')
    .forUpdate()
    .execute()
