import { type Caller, partOf, type Scope } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { holderOf } from '../../database/addresses.ts'
import { refusing } from '../../database/conflicts.ts'
import type { Tx } from '../../database/database.ts'
import { narrowed } from '../../database/scope.ts'
import { ApiError, Unprocessable } from '../../errors.ts'
import type { Page } from '../../http/paging.ts'
import { itemText } from '../../lib/item-text.ts'
import { ulid } from '../../lib/ulid.ts'
import type { DomainService } from '../domains/domains.service.ts'
import {
  AddressTaken,
  AliasDomainNotFound,
  AliasExists,
  AliasNotFound,
  DomainUnavailable,
  ForwardingLoop,
  ForwardsTooFar,
  InvalidAlias,
} from './aliases.errors.ts'
import { AliasCreated, AliasDeleted, AliasUpdated } from './aliases.events.ts'
import * as aliases from './aliases.repository.ts'
import {
  readActive,
  readAlias,
  readDestination,
  readDomain,
  readSource,
  type Sent,
} from './aliases.rules.ts'
import { findLoop } from './forwarding-loop.ts'

const MAX_ITEMS = 1000
const TOP_DESTINATIONS = 10
const MONTH_MS = 30 * 24 * 60 * 60 * 1000

interface AliasQuery {
  organization_id?: string
  active?: boolean
  q?: string
  domain?: string
}

type AliasSort = Parameters<typeof aliases.list>[3]

interface Needs extends Pick<Core, 'change' | 'db' | 'events' | 'now'> {
  domains: Pick<DomainService, 'findByName' | 'holdByName'>
}

export type AliasService = ReturnType<typeof aliasService>

export function aliasService({ change, db, domains, events, now }: Needs) {
  const monthAgo = () => new Date(now().getTime() - MONTH_MS)

  async function create(caller: Caller, sent: Sent) {
    const { source, domain, ...fields } = readAlias(sent)
    const created = await refusing(
      {
        aliases_source: () => new AliasExists(source),
        addresses_pkey: async () =>
          new AddressTaken({ address: source, by: (await holderOf(db, source)).words }),
      },
      () =>
        change(caller, async (tx) => {
          await aliases.lockForwarding(tx)
          const hosted = await domains.holdByName(tx, caller.scope, domain)
          if (!hosted?.active) throw new DomainUnavailable(domain)
          const row = await aliases.insert(tx, {
            ...fields,
            id: ulid(),
            source,
            domain_id: hosted.id,
            organization_id: hosted.organization_id,
          })
          if (row.active) await refuseLoop(tx, caller, source)
          await events.emit(
            tx,
            AliasCreated,
            { org_id: row.organization_id, domain },
            { alias_id: row.id, source, destination: row.destination, domain },
          )
          return row
        }),
    )
    return { alias_id: created.id, source }
  }

  /** Refuses the change that was just made if mail for this address would now come back to it. */
  async function refuseLoop(tx: Tx, caller: Caller, address: string): Promise<void> {
    const loop = await findLoop(address, (addresses) => aliases.routes(tx, addresses))
    if (loop === undefined) return
    if (loop === 'too far') throw new ForwardsTooFar(address)
    const { scope } = caller
    const visible =
      scope === 'platform' || loop.organizations.every((id) => id === scope.organization)
    throw new ForwardingLoop(visible ? loop.path : undefined)
  }

  async function locked(tx: Tx, caller: Caller, name: string) {
    await aliases.lockForwarding(tx)
    const alias = await aliases.lock(tx, caller.scope, nameOf(name))
    if (!alias) throw new InvalidAlias(`Alias ${name} not found`)
    const about = { org_id: alias.organization_id, domain: alias.domain }
    return { alias, about }
  }

  const editOne = (caller: Caller, name: string, attr: Sent) =>
    change(caller, async (tx) => {
      const { alias, about } = await locked(tx, caller, name)
      const fields = {
        ...(attr.destination !== undefined && readDestination(attr.destination)),
        ...(attr.active !== undefined && { active: readActive(attr.active) }),
      }
      const after = await aliases.update(tx, alias.id, fields, now())
      if (after.active && !alias.domain_active) throw new DomainUnavailable(alias.domain)
      // Switched off, it leaves its mail to the catch-all.
      if (after.active || alias.active) await refuseLoop(tx, caller, alias.source)
      await events.emit(tx, AliasUpdated, about, {
        alias_id: alias.id,
        source: alias.source,
        updated_fields: ATTRIBUTES.filter((attribute) => attr[attribute] !== undefined),
      })
    })

  const removeOne = (caller: Caller, name: string) =>
    change(caller, async (tx) => {
      const { alias, about } = await locked(tx, caller, name)
      await aliases.remove(tx, alias.id)
      if (alias.active) await refuseLoop(tx, caller, alias.source)
      await events.emit(tx, AliasDeleted, about, { alias_id: alias.id, source: alias.source })
      return alias.source
    })

  async function listPage(
    caller: Caller,
    scope: Scope,
    query: AliasQuery,
    sort: AliasSort,
    page: Page,
  ) {
    const { active = true, q, domain } = query
    const hosted = domain === undefined ? undefined : await hostedDomain(caller, domain)
    if (domain !== undefined && !hosted) return []
    const filter = { active, ...(q && { q }), ...(hosted && { domainId: hosted.id }) }
    return aliases.list(db, scope, filter, sort, page, monthAgo())
  }

  const hostedDomain = async (caller: Caller, sent: string) => {
    const name = readDomain(sent)
    return name === undefined ? undefined : domains.findByName(db, caller, name)
  }

  return {
    create,

    /** One alias in a list of its own, or a page of the active ones. */
    async get(caller: Caller, name: string, query: AliasQuery, sort: AliasSort, page: Page) {
      const scope = narrowed(caller.scope, query.organization_id)
      if (name === 'all') return listPage(caller, scope, query, sort, page)
      const alias = await aliases.find(db, scope, nameOf(name), monthAgo())
      if (!alias) throw new AliasNotFound()
      return [alias]
    },

    async edit(caller: Caller, { items, attr }: Sent) {
      if (!Array.isArray(items) || !isObject(attr)) throw new InvalidAlias('Invalid request format')
      if (ATTRIBUTES.every((attribute) => attr[attribute] === undefined)) return []
      return eachOf(caller, items, async (part, item) => {
        const alias = itemText(item)
        return outcome({ alias }, async () => {
          await editOne(part, alias, attr)
          return { msg: `Alias ${alias} updated successfully` }
        })
      })
    },

    async remove(caller: Caller, items: unknown) {
      if (!Array.isArray(items)) {
        throw new InvalidAlias('Invalid request format - array of alias IDs expected')
      }
      return eachOf(caller, items, async (part, item) => {
        const alias = itemText(item)
        return outcome({ alias }, async () => {
          const source = await removeOne(part, alias)
          return { source, msg: `Alias ${source} deleted successfully` }
        })
      })
    },

    async createMany(caller: Caller, sent: Sent) {
      if (!Array.isArray(sent.aliases)) {
        throw new InvalidAlias('Invalid request format - aliases array expected')
      }
      const results = await eachOf(caller, sent.aliases, async (part, item) => {
        const fields = isObject(item) ? item : {}
        const source = typeof fields.source === 'string' ? fields.source : ''
        return outcome({ source: readSource(source)?.source ?? source }, async () => {
          await create(part, fields)
          return { msg: 'Alias created successfully' }
        })
      })
      const success = results.filter(({ status }) => status === 'success').length
      const total = results.length
      return { summary: { total, success, errors: total - success }, results }
    },

    async stats(caller: Caller, sent: string) {
      const domain = await hostedDomain(caller, sent)
      if (!domain) throw new AliasDomainNotFound(sent)
      const [basic_stats, top_destinations, monthly_volume] = await Promise.all([
        aliases.counts(db, domain.id),
        aliases.topDestinations(db, domain.id, TOP_DESTINATIONS),
        aliases.dailyForwards(db, domain.id, monthAgo()),
      ])
      return { domain: domain.domain, basic_stats, top_destinations, monthly_volume }
    },

    /** Takes a deleted address out of an organization's aliases; answers how many went with it. */
    async dropDestination(tx: Tx, organizationId: string, address: string): Promise<number> {
      const gone = await aliases.removeLeadingOnlyTo(tx, organizationId, address)
      const trimmed = await aliases.dropDestination(tx, organizationId, address, now())
      const about = ({ source }: { source: string }) => ({
        org_id: organizationId,
        domain: source.slice(source.lastIndexOf('@') + 1),
      })
      for (const { id, source } of gone) {
        await events.emit(tx, AliasDeleted, about({ source }), { alias_id: id, source })
      }
      for (const { id, source } of trimmed) {
        const updated_fields = ['destination' as const]
        await events.emit(tx, AliasUpdated, about({ source }), {
          alias_id: id,
          source,
          updated_fields,
        })
      }
      return gone.length
    },

    /** For features that take an address away, which leaves its mail to a catch-all. */
    lockForwarding: aliases.lockForwarding,
    refuseLoop,
  }
}

const ATTRIBUTES = ['destination', 'active'] as const

/** One after another, each a change of its own: one that fails does not hold up the others. */
async function eachOf<Result>(
  caller: Caller,
  items: unknown[],
  work: (part: Caller, item: unknown) => Promise<Result>,
): Promise<Result[]> {
  if (items.length > MAX_ITEMS) {
    throw new Unprocessable(`At most ${MAX_ITEMS} aliases can be sent at once`)
  }
  const results: Result[] = []
  for (const [index, item] of items.entries()) {
    results.push(await work(partOf(caller, index === items.length - 1), item))
  }
  return results
}

async function outcome<Names extends object, Answer extends { msg: string }>(
  names: Names,
  work: () => Promise<Answer>,
) {
  try {
    return { ...names, status: 'success', ...(await work()) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const msg = error instanceof AliasExists ? 'Alias already exists' : error.message
    return { ...names, status: 'error', msg }
  }
}

/** A source may be written in several ways. */
const nameOf = (sent: string) => ({ id: sent, source: readSource(sent)?.source ?? '' })

const isObject = (value: unknown): value is Sent =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
