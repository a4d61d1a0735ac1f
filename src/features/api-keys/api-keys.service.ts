import { actorOf } from '../../access/actor.ts'
import { issueKey } from '../../access/api-keys.ts'
import { type Caller, isPlatform } from '../../access/caller.ts'
import { contains, highestLevel } from '../../access/scopes.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { narrowed } from '../../database/scope.ts'
import { invalidField } from '../../errors.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { parseIso } from '../../lib/dates.ts'
import { HOUR_MS } from '../../lib/time.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import { OrganizationRequired } from '../users/users.errors.ts'
import * as errors from './api-keys.errors.ts'
import { ApiKeyCreated, ApiKeyRevoked } from './api-keys.events.ts'
import * as keys from './api-keys.repository.ts'

/** Enough for every program of a tenant; a bound for a script that creates keys in a loop. */
const MAX_ACTIVE = 100

interface NewKey {
  name: string
  scopes?: string[]
  expires_at?: string | null
  organization_id?: string
}

type Needs = Pick<Core, 'access' | 'change' | 'config' | 'db' | 'events' | 'now'>
type Row = NonNullable<Awaited<ReturnType<typeof keys.find>>>

export type ApiKeyService = ReturnType<typeof apiKeyService>

/** Operators manage the keys of every organization, tenants their own where that is turned on. */
export const apiKeyService = (needs: Needs) => ({
  list: (caller: Caller, organizationId: string | undefined, filter: keys.KeyFilter, page: Page) =>
    list(needs, caller, organizationId, filter, page),
  get: (caller: Caller, keyId: string) => get(needs, caller, keyId),
  create: (caller: Caller, sent: NewKey) => create(needs, caller, sent),
  rotate: (caller: Caller, keyId: string, overlapHours: number) =>
    rotate(needs, caller, keyId, overlapHours),
  revoke: (caller: Caller, keyId: string) => revoke(needs, caller, keyId),
})

function refuseTenants({ config }: Needs, caller: Caller): void {
  if (!isPlatform(caller) && !config.SVC_SELF_SERVICE_KEYS) throw new errors.SelfServiceKeysOff()
}

async function list(
  needs: Needs,
  caller: Caller,
  organizationId: string | undefined,
  filter: keys.KeyFilter,
  page: Page,
) {
  refuseTenants(needs, caller)
  const scope = narrowed(caller.scope, organizationId)
  const { items, total } = await keys.list(needs.db, scope, filter, page, needs.now())
  return paginated(items, total, page)
}

async function get(needs: Needs, caller: Caller, keyId: string) {
  refuseTenants(needs, caller)
  const row = await keys.find(needs.db, caller.scope, keyId, needs.now())
  if (!row) throw new errors.ApiKeyNotFound()
  return row
}

async function create(needs: Needs, caller: Caller, sent: NewKey) {
  const { change } = needs
  refuseTenants(needs, caller)
  const organizationId = isPlatform(caller) ? sent.organization_id : caller.organizationId
  if (!organizationId) throw new OrganizationRequired()
  const scopes = [...new Set(sent.scopes ?? ['write'])]
  const expiresAt = expiryOf(sent.expires_at ?? null, needs.now())
  refuseMoreThanOwn(caller, scopes, expiresAt)
  const issued = await change(caller, async (tx) => {
    if (!(await keys.lockOrganization(tx, organizationId))) throw new OrganizationNotFound()
    if ((await keys.countActive(tx, organizationId, needs.now())) >= MAX_ACTIVE) {
      throw new errors.TooManyKeys({ limit: MAX_ACTIVE })
    }
    const { name } = sent
    return issue(needs, tx, caller, {
      name,
      organizationId,
      scope: 'organization',
      scopes,
      expiresAt,
    })
  })
  return { ...(await get(needs, caller, issued.key_id)), api_key: issued.api_key }
}

/** The new key has the name, scopes and expiry of the old one. */
async function rotate(needs: Needs, caller: Caller, keyId: string, overlapHours: number) {
  const { access, change, events, now } = needs
  refuseTenants(needs, caller)
  const issued = await change(caller, async (tx) => {
    const old = await keys.lock(tx, caller.scope, keyId, now())
    if (!old) throw new errors.ApiKeyNotFound()
    if (old.status !== 'active') throw new errors.ApiKeyRevoked()
    const expiresAt = old.expires_at === null ? null : new Date(old.expires_at)
    refuseMoreThanOwn(caller, old.scopes, expiresAt)
    const { name, organization_id: organizationId, scope, scopes } = old
    const key = { name, organizationId, scope, scopes, expiresAt }
    const replacement = await issue(needs, tx, caller, key, keyId)
    if (overlapHours > 0) {
      await keys.expireAt(tx, old.id, new Date(now().getTime() + overlapHours * HOUR_MS))
    } else {
      await keys.revoke(tx, old.id)
      await events.emit(tx, ApiKeyRevoked, { org_id: organizationId }, dataOf(old))
    }
    return replacement
  })
  await access.settled()
  return { ...(await get(needs, caller, issued.key_id)), api_key: issued.api_key }
}

/** Idempotent. */
async function revoke(needs: Needs, caller: Caller, keyId: string) {
  const { access, change, events, now } = needs
  refuseTenants(needs, caller)
  await change(caller, async (tx) => {
    const row = await keys.lock(tx, caller.scope, keyId, now())
    if (!row) throw new errors.ApiKeyNotFound()
    if (row.status === 'revoked') return
    await keys.revoke(tx, row.id)
    await events.emit(tx, ApiKeyRevoked, { org_id: row.organization_id }, dataOf(row))
  })
  await access.settled()
  return get(needs, caller, keyId)
}

interface Issue {
  name: string
  organizationId: string | null
  scope: 'organization' | 'platform'
  scopes: string[]
  expiresAt: Date | null
}

async function issue({ events }: Needs, tx: Tx, caller: Caller, key: Issue, replaces?: string) {
  const level = highestLevel(key.scopes)
  const issued = await issueKey(tx, {
    ...key,
    permissions: { read_only: level === 'read', admin_access: level === 'admin' },
    createdBy: actorOf(caller),
  })
  const { name, organizationId: organization_id, scopes } = key
  await events.emit(
    tx,
    ApiKeyCreated,
    { org_id: organization_id },
    {
      api_key_id: issued.key_id,
      name,
      organization_id,
      scopes,
      ...(replaces !== undefined && { replaces }),
    },
  )
  return issued
}

const dataOf = ({ key_id, name, organization_id }: Row) => ({
  api_key_id: key_id,
  name,
  organization_id,
})

function expiryOf(sent: string | null, now: Date): Date | null {
  if (sent === null) return null
  const expiry = parseIso(sent)
  if (!expiry) throw invalidField('expires_at', 'Must be an ISO date or datetime')
  if (expiry <= now) throw invalidField('expires_at', 'Must lie in the future')
  return expiry
}

/** Otherwise a key with a narrow scope or a near end could make a better one. */
function refuseMoreThanOwn(caller: Caller, scopes: string[], expiresAt: Date | null): void {
  if (caller.kind !== 'key') return
  const outlives =
    caller.expiresAt !== null && (expiresAt === null || expiresAt.getTime() > caller.expiresAt)
  if (outlives || (caller.scopes !== null && !contains(caller.scopes, scopes))) {
    throw new errors.ScopesExceeded()
  }
}
