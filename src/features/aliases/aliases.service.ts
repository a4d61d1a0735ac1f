import { type Caller, partOf, type Scope } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { refusing } from '../../database/conflicts.ts'
import type { Tx } from '../../database/database.ts'
import { narrowed } from '../../database/scope.ts'
import { ApiError, refuseNotWritable, Unprocessable } from '../../errors.ts'
import { addressConflict } from '../../hosting/address-conflicts.ts'
import type { Page } from '../../http/paging.ts'
import { isObject } from '../../lib/is-object.ts'
import { itemText } from '../../lib/item-text.ts'
import { DAY_MS } from '../../lib/time.ts'
import { ulid } from '../../lib/ulid.ts'
import type { DomainService } from '../domains/domains.service.ts'
import {
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
import { Alias } from './aliases.schemas.ts'
import { findLoop } from './forwarding-loop.ts'

const MAX_ITEMS = 1000
const ATTRIBUTES = ['destination', 'active'] as const
const TOP_DESTINATIONS = 10
const MONTH_MS = 30 * DAY_MS

interface AliasQuery {
  organization_id?: string
  active?: boolean | 'any'
  q?: string
  domain?: string
}

type AliasSort = Parameters<typeof aliases.list>[3]

interface Needs extends Pick<Core, 'change' | 'db' | 'events' | 'now'> {
  domains: Pick<DomainService, 'findByName' | 'holdByName'>
}

export type AliasService = ReturnType<typeof aliasService>

export const aliasService = (needs: Needs) => ({
  create: (caller: Caller, sent: Sent) => create(needs, caller, sent),
  createMany: (caller: Caller, sent: Sent) => createMany(needs, caller, sent),
  get: (caller: Caller, name: string, query: AliasQuery, sort: AliasSort, page: Page) =>
    get(needs, caller, name, query, sort, page),
  edit: (caller: Caller, sent: Sent) => edit(needs, caller, sent),
  remove: (caller: Caller, items: unknown) => remove(needs, caller, items),
  stats: (caller: Caller, domain: string) => stats(needs, caller, domain),

  // For features that delete an address: its mail then goes to a catch-all.
  dropDestination: (tx: Tx, organizationId: string, address: string) =>
    dropDestination(needs, tx, organizationId, address),
  lockForwarding: aliases.lockForwarding,
  refuseLoop,
})

async function create({ change, db, domains, events }: Needs, caller: Caller, sent: Sent) {
  const { source, domain, ...fields } = readAlias(sent)
  const created = await refusing(
    {
      aliases_source: () => new AliasExists(source),
      addresses_pkey: () => addressConflict(db, caller.scope, source),
    },
    () =>
      change(caller, async (tx) => {
        await aliases.lockForwarding(tx, fields.destinations)
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

async function createMany(needs: Needs, caller: Caller, sent: Sent) {
  if (!Array.isArray(sent.aliases)) {
    throw new InvalidAlias('Invalid request format - aliases array expected')
  }
  const results = await eachOf(caller, sent.aliases, async (part, item) => {
    const fields = isObject(item) ? item : {}
    const source = typeof fields.source === 'string' ? fields.source : ''
    return outcome({ source: readSource(source)?.source ?? source }, async () => {
      await create(needs, part, fields)
      return { msg: 'Alias created successfully' }
    })
  })
  const success = results.filter(({ status }) => status === 'success').length
  const total = results.length
  return { summary: { total, success, errors: total - success }, results }
}

/** Returns a list of one alias, or a page of aliases for the name `all`. */
async function get(
  needs: Needs,
  caller: Caller,
  name: string,
  query: AliasQuery,
  sort: AliasSort,
  page: Page,
) {
  const scope = narrowed(caller.scope, query.organization_id)
  if (name === 'all') return list(needs, caller, scope, query, sort, page)
  const alias = await aliases.find(needs.db, scope, nameOf(name), monthAgo(needs))
  if (!alias) throw new AliasNotFound()
  return { items: [alias], total: 1 }
}

async function list(
  needs: Needs,
  caller: Caller,
  scope: Scope,
  query: AliasQuery,
  sort: AliasSort,
  page: Page,
) {
  const { active = true, q, domain } = query
  const hosted = domain === undefined ? undefined : await hostedDomain(needs, caller, domain)
  if (domain !== undefined && !hosted) return { items: [], total: 0 }
  const filter = {
    ...(active !== 'any' && { active }),
    ...(q && { q }),
    ...(hosted && { domainId: hosted.id }),
  }
  return aliases.list(needs.db, scope, filter, sort, page, monthAgo(needs))
}

async function edit(needs: Needs, caller: Caller, { items, attr }: Sent) {
  if (!Array.isArray(items) || !isObject(attr)) throw new InvalidAlias('Invalid request format')
  const isEmpty = ATTRIBUTES.every((attribute) => attr[attribute] === undefined)
  if (isEmpty && !Object.keys(attr).some((name) => name in Alias.properties)) return []
  return eachOf(caller, items, async (part, item) => {
    const alias = itemText(item)
    return outcome({ alias }, async () => {
      await editOne(needs, part, alias, attr)
      return { msg: `Alias ${alias} updated successfully` }
    })
  })
}

const editOne = ({ change, events, now }: Needs, caller: Caller, name: string, attr: Sent) =>
  change(caller, async (tx) => {
    const { alias, subject } = await lockAlias(tx, caller, name)
    const isEmpty = ATTRIBUTES.every((attribute) => attr[attribute] === undefined)
    refuseNotWritable(attr, Alias.properties, isEmpty)
    const fields = {
      ...(attr.destination !== undefined && readDestination(attr.destination)),
      ...(attr.active !== undefined && { active: readActive(attr.active) }),
    }
    const after = await aliases.update(tx, alias.id, fields, now())
    if (after.active && !alias.domain_active) throw new DomainUnavailable(alias.domain)
    // The mail of an inactive alias goes to the catch-all, which may lead back here.
    if (after.active || alias.active) await refuseLoop(tx, caller, alias.source)
    await events.emit(tx, AliasUpdated, subject, {
      alias_id: alias.id,
      source: alias.source,
      updated_fields: ATTRIBUTES.filter((attribute) => attr[attribute] !== undefined),
    })
  })

async function remove(needs: Needs, caller: Caller, items: unknown) {
  if (!Array.isArray(items)) {
    throw new InvalidAlias('Invalid request format - array of alias IDs expected')
  }
  return eachOf(caller, items, async (part, item) => {
    const alias = itemText(item)
    return outcome({ alias }, async () => {
      const source = await removeOne(needs, part, alias)
      return { source, msg: `Alias ${source} deleted successfully` }
    })
  })
}

const removeOne = ({ change, events }: Needs, caller: Caller, name: string) =>
  change(caller, async (tx) => {
    const { alias, subject } = await lockAlias(tx, caller, name)
    await aliases.remove(tx, alias.id)
    if (alias.active) await refuseLoop(tx, caller, alias.source)
    await events.emit(tx, AliasDeleted, subject, { alias_id: alias.id, source: alias.source })
    return alias.source
  })

async function lockAlias(tx: Tx, caller: Caller, name: string) {
  await aliases.lockForwarding(tx)
  const alias = await aliases.lock(tx, caller.scope, nameOf(name))
  if (!alias) throw new InvalidAlias(`Alias ${name} not found`)
  return { alias, subject: { org_id: alias.organization_id, domain: alias.domain } }
}

async function stats(needs: Needs, caller: Caller, sent: string) {
  const { db } = needs
  const domain = await hostedDomain(needs, caller, sent)
  if (!domain) throw new AliasDomainNotFound(sent)
  const [basic_stats, top_destinations, monthly_volume] = await Promise.all([
    aliases.counts(db, domain.id),
    aliases.topDestinations(db, domain.id, TOP_DESTINATIONS),
    aliases.dailyForwards(db, domain.id, monthAgo(needs)),
  ])
  return { domain: domain.domain, basic_stats, top_destinations, monthly_volume }
}

/** Removes a deleted address from an organization's aliases; returns how many were deleted. */
async function dropDestination(
  { events, now }: Needs,
  tx: Tx,
  organizationId: string,
  address: string,
): Promise<number> {
  const deleted = await aliases.removeLeadingOnlyTo(tx, organizationId, address)
  const updated = await aliases.dropDestination(tx, organizationId, address, now())
  const subjectOf = (source: string) => ({
    org_id: organizationId,
    domain: source.slice(source.lastIndexOf('@') + 1),
  })
  for (const { id, source } of deleted) {
    await events.emit(tx, AliasDeleted, subjectOf(source), { alias_id: id, source })
  }
  for (const { id, source } of updated) {
    const updated_fields = ['destination' as const]
    await events.emit(tx, AliasUpdated, subjectOf(source), {
      alias_id: id,
      source,
      updated_fields,
    })
  }
  return deleted.length
}

/** Refuses the change of this transaction when mail for the address would come back to it. */
async function refuseLoop(tx: Tx, caller: Caller, address: string): Promise<void> {
  const { scope } = caller
  const loop = await findLoop(address, (addresses) => aliases.routes(tx, scope, addresses))
  if (loop === undefined) return
  if (loop === 'too far') throw new ForwardsTooFar(address)
  const isVisible =
    scope === 'platform' || loop.organizations.every((id) => id === scope.organization)
  throw new ForwardingLoop(isVisible ? loop.path : undefined)
}

async function hostedDomain({ db, domains }: Needs, caller: Caller, sent: string) {
  const name = readDomain(sent)
  return name === undefined ? undefined : domains.findByName(db, caller, name)
}

const monthAgo = ({ now }: Needs) => new Date(now().getTime() - MONTH_MS)

/** Runs one change per item, in order. A failed item does not stop the others. */
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

/** Turns an expected error into the result of its item. */
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

/** A source has several spellings; the stored one is compared. */
const nameOf = (sent: string) => ({ id: sent, source: readSource(sent)?.source ?? '' })
