import { randomBytes } from 'node:crypto'
import { type Caller, isPlatform } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { narrowed } from '../../../database/scope.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { ulid } from '../../../lib/ulid.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import { WebhookTested } from '../webhooks.events.ts'
import { EndpointInactive, EndpointNotFound, NothingToUpdate } from './endpoints.errors.ts'
import * as endpoints from './endpoints.repository.ts'
import { readFields, readSecret, readUrl, type Sent } from './endpoints.rules.ts'

/** What the secrets of endpoints are sealed for. */
export const ENDPOINT_SECRET = 'webhook endpoint secret'
const SECRET_BYTES = 32

type Needs = Pick<Core, 'change' | 'db' | 'events' | 'now' | 'vault'>

export type EndpointService = ReturnType<typeof endpointService>

export function endpointService({ change, db, events, now, vault }: Needs) {
  /** A tenant's own organization; for platform callers the one they name, or none. */
  async function ownerOf(tx: Tx, caller: Caller, named: unknown): Promise<string | null> {
    if (!isPlatform(caller)) return caller.organizationId
    if (named === undefined || named === null) return null
    if (typeof named !== 'string' || !(await endpoints.holdOrganization(tx, named))) {
      throw new OrganizationNotFound()
    }
    return named
  }

  return {
    async list(caller: Caller, organizationId: string | undefined, page: Page) {
      const scope = narrowed(caller.scope, organizationId)
      const { items, total } = await endpoints.list(db, scope, page)
      return paginated(items, total, page)
    },

    async get(caller: Caller, id: string) {
      const endpoint = await endpoints.find(db, caller.scope, id)
      if (!endpoint) throw new EndpointNotFound()
      return endpoint
    },

    /** The only answer that holds the secret, whoever chose it. */
    async create(caller: Caller, sent: Sent) {
      const fields = { ...readFields(sent), url: readUrl(sent.url) }
      const secret =
        sent.secret === undefined || sent.secret === null || sent.secret === ''
          ? randomBytes(SECRET_BYTES).toString('hex')
          : readSecret(sent.secret)
      return change(caller, async (tx) => {
        const organization_id = await ownerOf(tx, caller, sent.organization_id)
        const sealed = vault.seal(ENDPOINT_SECRET, secret)
        const row = { ...fields, id: ulid(), organization_id, secret: sealed }
        const { id, url, active } = await endpoints.insert(tx, row, now())
        const data = { endpoint_id: id, url, action: 'created' as const }
        await events.emit(tx, WebhookTested, { org_id: organization_id }, data)
        return { id, organization_id, url, secret, active }
      })
    },

    async update(caller: Caller, id: string, sent: Sent) {
      const fields = {
        ...readFields(sent),
        ...(sent.secret !== undefined && {
          secret: vault.seal(ENDPOINT_SECRET, readSecret(sent.secret)),
        }),
      }
      if (Object.keys(fields).length === 0) throw new NothingToUpdate()
      return change(caller, async (tx) => {
        const updated = await endpoints.update(tx, caller.scope, id, fields, now())
        if (!updated) throw new EndpointNotFound()
        return updated
      })
    },

    remove: (caller: Caller, id: string) =>
      change(caller, async (tx) => {
        if (!(await endpoints.remove(tx, caller.scope, id))) throw new EndpointNotFound()
      }),

    /** The event goes where all events go; it succeeds also where nothing is delivered. */
    test: (caller: Caller, id: string) =>
      change(caller, async (tx) => {
        const endpoint = await endpoints.find(tx, caller.scope, id)
        if (!endpoint) throw new EndpointNotFound()
        if (!endpoint.active) throw new EndpointInactive()
        await events.emit(
          tx,
          WebhookTested,
          { org_id: endpoint.organization_id },
          { endpoint_id: id, url: endpoint.url, test: true, timestamp: now().toISOString() },
        )
        return { endpoint_id: id }
      }),
  }
}
