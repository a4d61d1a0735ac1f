import { randomBytes } from 'node:crypto'
import { type Caller, isPlatform } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { narrowed } from '../../../database/scope.ts'
import { type Page, paginated } from '../../../http/paging.ts'
import { ulid } from '../../../lib/ulid.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import { WebhookTested } from '../webhooks.events.ts'
import {
  EndpointInactive,
  EndpointNotFound,
  InvalidEndpoint,
  NothingToUpdate,
  TooManyEndpoints,
} from './endpoints.errors.ts'
import * as endpoints from './endpoints.repository.ts'
import { ENDPOINT_SECRET, readFields, readSecret, readUrl, type Sent } from './endpoints.rules.ts'

const SECRET_BYTES = 32

type Needs = Pick<Core, 'change' | 'config' | 'db' | 'events' | 'now' | 'outbound' | 'vault'>

interface Rotation {
  secret?: string
  overlap_seconds: number
}

export type EndpointService = ReturnType<typeof endpointService>

export function endpointService(core: Needs) {
  const { change, config, db, events, now, outbound, vault } = core
  const newSecret = () => randomBytes(SECRET_BYTES).toString('hex')

  /** Without fan-out nothing is sent to an endpoint, so it may have any URL. */
  function checkTarget(url: string | undefined): void {
    if (url === undefined || !config.WEBHOOK_FANOUT) return
    const problem = outbound.problemOf(url)
    if (problem !== undefined) throw new InvalidEndpoint(`url: ${problem}`)
  }

  /** The organization of a tenant; for platform callers the one they name, or none. */
  async function ownerOf(tx: Tx, caller: Caller, organizationId: unknown): Promise<string | null> {
    if (!isPlatform(caller)) return caller.organizationId
    if (organizationId === undefined || organizationId === null) return null
    if (
      typeof organizationId !== 'string' ||
      !(await endpoints.holdOrganization(tx, organizationId))
    ) {
      throw new OrganizationNotFound()
    }
    return organizationId
  }

  /** Every event may cost an attempt per endpoint. Endpoints of the platform itself have no limit. */
  async function requireRoom(tx: Tx, organizationId: string | null): Promise<void> {
    if (organizationId === null) return
    const limit = config.WEBHOOK_MAX_ENDPOINTS
    if ((await endpoints.countForUpdate(tx, organizationId)) >= limit) {
      throw new TooManyEndpoints(limit)
    }
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

    /** The only response that contains the secret. */
    async create(caller: Caller, sent: Sent) {
      const fields = { ...readFields(sent), url: readUrl(sent.url) }
      checkTarget(fields.url)
      const secret =
        sent.secret === undefined || sent.secret === null || sent.secret === ''
          ? newSecret()
          : readSecret(sent.secret)
      return change(caller, async (tx) => {
        const organization_id = await ownerOf(tx, caller, sent.organization_id)
        await requireRoom(tx, organization_id)
        const sealed = vault.seal(ENDPOINT_SECRET, secret)
        const row = { ...fields, id: ulid(), organization_id, secret: sealed }
        const { id, url, active } = await endpoints.insert(tx, row, now())
        const data = { endpoint_id: id, url, action: 'created' as const }
        const about = { org_id: organization_id, endpoint_id: id }
        await events.emit(tx, WebhookTested, about, data)
        return { id, organization_id, url, secret, active }
      })
    },

    async update(caller: Caller, id: string, sent: Sent) {
      const fields = {
        ...readFields(sent),
        ...(sent.secret !== undefined && {
          secret: vault.seal(ENDPOINT_SECRET, readSecret(sent.secret)),
          // Replaced at once; rotateSecret keeps the old one for a while.
          previous_secret: null,
          previous_secret_until: null,
        }),
      }
      if (Object.keys(fields).length === 0) throw new NothingToUpdate()
      checkTarget(fields.url)
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

    /** The old secret also signs until the overlap ends; an even older one stops signing now. */
    async rotateSecret(caller: Caller, id: string, sent: Rotation) {
      const secret = sent.secret === undefined ? newSecret() : readSecret(sent.secret)
      const until = new Date(now().getTime() + sent.overlap_seconds * 1000)
      return change(caller, async (tx) => {
        const sealed = vault.seal(ENDPOINT_SECRET, secret)
        const row = await endpoints.rotateSecret(tx, caller.scope, id, sealed, until, now())
        if (!row) throw new EndpointNotFound()
        return { id, secret, previous_secret_until: until.toISOString() }
      })
    },

    /** Emits an event like any other; succeeds even when nothing is delivered. */
    test: (caller: Caller, id: string) =>
      change(caller, async (tx) => {
        const endpoint = await endpoints.find(tx, caller.scope, id)
        if (!endpoint) throw new EndpointNotFound()
        if (!endpoint.active) throw new EndpointInactive()
        await events.emit(
          tx,
          WebhookTested,
          { org_id: endpoint.organization_id, endpoint_id: id },
          { endpoint_id: id, url: endpoint.url, test: true, timestamp: now().toISOString() },
        )
        return { endpoint_id: id }
      }),
  }
}
