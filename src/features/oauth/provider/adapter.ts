import type { Adapter, AdapterPayload } from 'oidc-provider'
import { errors } from 'oidc-provider'
import type { Core } from '../../../core.ts'
import { sha256 } from '../../../lib/tokens.ts'
import { findForProvider } from '../clients/clients.repository.ts'
import * as items from './items.repository.ts'
import { metadataOf } from './metadata.ts'

const PURPOSE = 'oauth item'
/** For kinds that the provider stores without an end. */
const LONGEST_SECONDS = 366 * 86_400

type Needs = Pick<Core, 'authCache' | 'db' | 'now' | 'vault'>

const hashOf = (value: string | undefined) => (value === undefined ? null : sha256(value))

/** Keeps codes, tokens and sign-ins in PostgreSQL: ids as hashes, payloads sealed. */
export const adapterFactory =
  (core: Needs) =>
  (kind: string): Adapter =>
    kind === 'Client' ? clientAdapter(core) : itemAdapter(core, kind)

/** Clients are managed by tenants and operators, so the provider only reads them. */
function clientAdapter({ db }: Needs): Adapter {
  const none = async () => undefined
  return {
    async find(id) {
      const client = await findForProvider(db, id)
      return client && metadataOf(client)
    },
    findByUid: none,
    findByUserCode: none,
    upsert: none,
    consume: none,
    destroy: none,
    revokeByGrantId: none,
  }
}

function itemAdapter({ authCache, db, now, vault }: Needs, kind: string): Adapter {
  // The kind is part of the purpose, so that a row cannot be used as one of another kind.
  const purpose = `${PURPOSE} ${kind}`
  async function read(look: typeof items.find, value: string) {
    const row = await look(db, kind, sha256(value), now())
    if (!row) return undefined
    const payload: AdapterPayload = JSON.parse(vault.open(purpose, row.payload))
    return row.consumed_at === null
      ? payload
      : { ...payload, consumed: Math.floor(Date.parse(row.consumed_at) / 1000) }
  }
  const flush = async (addresses: string[]) => {
    if (addresses.length > 0) await authCache.flush(addresses)
  }

  return {
    find: (id) => read(items.find, id),
    findByUid: (uid) => read(items.findByUid, uid),
    findByUserCode: (code) => read(items.findByUserCode, code),
    async upsert(id, payload, expiresIn) {
      const at = now()
      await items.upsert(
        db,
        {
          kind,
          idHash: sha256(id),
          grantHash: hashOf(kind === 'Grant' ? undefined : payload.grantId),
          uidHash: hashOf(kind === 'Session' ? payload.uid : undefined),
          userCodeHash: hashOf(payload.userCode),
          clientId: payload.clientId ?? null,
          accountId: payload.accountId ?? null,
          scopes: scopesOf(kind, payload),
          payload: vault.seal(purpose, JSON.stringify(payload)),
          expiresAt: new Date(at.getTime() + (expiresIn || LONGEST_SECONDS) * 1000),
        },
        at,
      )
    },
    async consume(id) {
      if (await items.consume(db, kind, sha256(id), now())) return
      throw new errors.InvalidGrant('the code or token was used by another request')
    },
    async destroy(id) {
      await flush(await items.remove(db, { kind, idHash: sha256(id) }))
    },
    async revokeByGrantId(grantId) {
      await flush(await items.remove(db, { grantHash: sha256(grantId) }))
    },
  }
}

/** The scopes of a token, or what the holder has granted. */
function scopesOf(kind: string, payload: AdapterPayload): string[] {
  const granted = payload.openid as { scope?: string } | undefined
  const text = kind === 'Grant' ? granted?.scope : payload.scope
  return typeof text === 'string' ? text.split(' ').filter((scope) => scope !== '') : []
}
