import { actorOf } from '../../access/actor.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Tx } from '../../database/database.ts'
import { invalidField, NoDataProvided, ServiceUnavailable } from '../../errors.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import { CountersUnavailable, type Direction, type EntityType, type Subject } from './counters.ts'
import type { Counting } from './counting.ts'
import * as errors from './rate-limiter.errors.ts'
import { RateLimitReset } from './rate-limiter.events.ts'
import * as repository from './rate-limiter.repository.ts'
import type { RuleChange, SentReset } from './rate-limiter.schemas.ts'
import { defaultRule, sentFields, shownRule } from './rules.ts'
import { usageOf } from './usage.ts'

const STORED_PRIORITY = 1
const MAX_ATTRIBUTION = 255

interface Needs extends Pick<Core, 'change' | 'config' | 'db' | 'events' | 'now'> {
  counting(): Pick<Counting, 'counters' | 'settled'>
}

export type RateLimiterService = ReturnType<typeof rateLimiterService>

export function rateLimiterService(needs: Needs) {
  const { change, config, counting, db, events, now } = needs

  /** The entity, when it is one and the caller's; else the 404 of its kind. */
  async function find(caller: Caller, type: EntityType, name: string) {
    const { scope } = caller
    if (type === 'organization') {
      const found = await repository.findOrganization(db, scope, name)
      if (!found) throw new OrganizationNotFound()
      return found
    }
    if (type === 'domain') {
      const domain = toDomainName(name)
      const found = domain && (await repository.findDomain(db, scope, domain))
      if (!found) throw new DomainNotFound()
      return found
    }
    const found = await repository.findMailbox(db, scope, name.trim().toLowerCase())
    if (!found) throw new errors.LimitedMailboxNotFound()
    return found
  }

  const subjectOf = (owned: repository.Owned, direction: Direction): Subject => ({
    organizationId: owned.organizationId,
    type: owned.type,
    identifier: owned.identifier,
    direction,
  })

  async function merge(
    tx: Tx,
    owned: repository.Owned,
    direction: Direction,
    sent: RuleChange,
    by: string,
  ) {
    const { type, identifier } = owned
    await repository.lockRule(tx, type, identifier, direction)
    const before = await repository.findRule(tx, type, identifier, direction)
    const fallback = defaultRule(config, type, direction)
    const merged = {
      ...(before ?? { ...fallback, burst_limit: null, priority: STORED_PRIORITY }),
      ...sentFields(sent),
    }
    if (merged.warning_threshold >= merged.critical_threshold) {
      throw invalidField('warning_threshold', 'Must be below critical_threshold')
    }
    await repository.storeRule(tx, owned, direction, merged, by, now())
    const { hourly_limit, daily_limit, monthly_limit, active } = merged
    await events.emit(
      tx,
      RateLimitReset,
      { org_id: owned.organizationId, domain: owned.domain },
      {
        entity_type: type,
        identifier,
        direction,
        hourly_limit,
        daily_limit,
        monthly_limit,
        active,
        updated_by: by,
      },
    )
  }

  return {
    find,

    async read(caller: Caller, type: EntityType, name: string, sentDirection: unknown) {
      const direction = directionOf(sentDirection) ?? refuse(new errors.InvalidDirection())
      const owned = await find(caller, type, name)
      const { identifier } = owned
      const stored = await repository.findRule(db, type, identifier, direction)
      const rule = shownRule(stored, defaultRule(config, type, direction))
      const at = now()
      const counts = await available(
        counting().counters.usage(subjectOf(owned, direction), at.getTime()),
      )
      return {
        entity_type: type,
        identifier,
        direction,
        config: rule,
        ...usageOf(counts, rule),
        timestamp: at.toISOString(),
      }
    },

    /** What is not sent stays as it was; two writers at once do not undo each other. */
    async write(caller: Caller, type: EntityType, name: string, sent: RuleChange) {
      const direction = directionOf(sent.direction) ?? refuse(new errors.InvalidDirection())
      if (Object.keys(sentFields(sent)).length === 0) throw new NoDataProvided()
      const owned = await find(caller, type, name)
      const by = sent.created_by || actorOf(caller).slice(0, MAX_ATTRIBUTION)
      await change(caller, (tx) => merge(tx, owned, direction, sent, by))
      await counting().settled()
    },

    async reset(caller: Caller, sent: SentReset, quiet = false) {
      const type = entityTypeOf(sent.type) ?? refuse(new errors.InvalidEntityType())
      const { identifier: name } = sent
      if (typeof name !== 'string' || name === '') throw new errors.MissingIdentifier()
      const direction = directionOf(sent.direction) ?? refuse(new errors.InvalidResetDirection())
      const owned = await find(caller, type, name)
      const { identifier } = owned
      const about = { org_id: owned.organizationId, domain: owned.domain }
      // The counters go first: a reset that is told has happened, and one more does no harm.
      await available(counting().counters.reset(subjectOf(owned, direction)))
      if (!quiet) {
        await change(caller, (tx) =>
          events.emit(tx, RateLimitReset, about, { entity_type: type, identifier, direction }),
        )
      }
      return { entity_type: type, identifier, direction }
    },
  }
}

/** Whoever counts is away: the answer is 503, in the shape of this service. */
export async function available<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof CountersUnavailable) throw new ServiceUnavailable(errors.UNAVAILABLE)
    throw error
  }
}

const refuse = (error: Error): never => {
  throw error
}

/** Undefined when it is neither; without one it is the outbound direction that is meant. */
export function directionOf(sent: unknown): Direction | undefined {
  if (sent === undefined || sent === null || sent === 'outbound') return 'outbound'
  return sent === 'inbound' ? 'inbound' : undefined
}

export const entityTypeOf = (sent: unknown): EntityType | undefined =>
  (['organization', 'domain', 'mailbox'] as const).find((type) => type === sent)
