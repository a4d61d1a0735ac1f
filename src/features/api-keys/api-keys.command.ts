import { issueKey, type NewKey } from '../../access/api-keys.ts'
import { highestLevel } from '../../access/scopes.ts'
import type { Config } from '../../config/index.ts'
import type { Db } from '../../database/database.ts'
import { events } from '../../events/events.ts'
import { insertCommand } from '../../http/audit.repository.ts'
import { webhookQueue } from '../webhooks/delivery/enqueue.ts'
import { ApiKeyCreated, ApiKeyRevoked } from './api-keys.events.ts'
import * as keys from './api-keys.repository.ts'

/** Issues a key on the command line, with the event and the audit row of a request. */
export const createByCommand = (db: Db, config: Config, key: NewKey) =>
  db.transaction().execute(async (tx) => {
    const { emit } = events([webhookQueue(config)])
    const issued = await issueKey(tx, key)
    const now = new Date()
    const { key_id: api_key_id, organization_id } = issued
    const row = await keys.find(tx, 'platform', api_key_id, now)
    const scopes = row?.scopes ?? []
    const data = { api_key_id, name: key.name, organization_id, scopes }
    await emit(tx, ApiKeyCreated, { org_id: organization_id }, data)
    const request_body = { name: key.name, scope: key.scope, level: highestLevel(scopes) }
    await insertCommand(
      tx,
      {
        action: 'create_api_key',
        target_type: 'key_id',
        target_id: api_key_id,
        organization_id,
        request_body,
      },
      now,
    )
    return issued
  })

/** Returns false when there is no such key; revoking it twice is allowed. */
export const revokeByCommand = (
  db: Db,
  config: Config,
  keyId: string,
  reason: string | undefined,
) =>
  db.transaction().execute(async (tx) => {
    const now = new Date()
    const row = await keys.lock(tx, 'platform', keyId, now)
    if (!row) return false
    if (row.status === 'revoked') return true
    const { emit } = events([webhookQueue(config)])
    const { name, organization_id } = row
    await keys.revoke(tx, row.id)
    const data = { api_key_id: keyId, name, organization_id }
    await emit(tx, ApiKeyRevoked, { org_id: organization_id }, data)
    await insertCommand(
      tx,
      {
        action: 'revoke_api_key',
        target_type: 'key_id',
        target_id: keyId,
        organization_id,
        request_body: reason === undefined ? {} : { reason },
      },
      now,
    )
    return true
  })
