import { actorOf } from '../../access/actor.ts'
import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { NoDataProvided, ServiceUnavailable } from '../../errors.ts'
import { type Direction, type EntityType, LIMIT_FIELDS } from '../../hosting/rate-rules.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import { CountersUnavailable, type Subject } from './counters/counters.ts'
import type { Counting } from './counters/counting.ts'
import type { PerWindow } from './counters/windows.ts'
import { ceilingOf, mergeRule, setByOf } from './merge-rule.ts'
import * as errors from './rate-limiter.errors.ts'
import { RateLimitReset } from './rate-limiter.events.ts'
import * as repository from './rate-limiter.repository.ts'
import type { RuleChange, SentReset } from './rate-limiter.schemas.ts'
import { defaultRule, limitsOf, operatorLimits, sentFields, shownRule } from './rules.ts'
import { usageOf } from './usage.ts'

const MAX_ATTRIBUTION = 255

interface Needs extends Pick<Core, 'change' | 'config' | 'db' | 'events' | 'now'> {
  counting(): Pick<Counting, 'counters' | 'settled'>
}

export type RateLimiterService = ReturnType<typeof rateLimiterService>

export function rateLimiterService(needs: Needs) {
  const { change, config, counting, db, events, now } = needs

  /** Returns the entity of the caller, or throws the 404 for its type. */
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

  /** A tenant that resets what an operator limits would lift the limit. */
  async function refuseReset(owned: repository.Owned, direction: Direction) {
    const { operator } = await repository.findRules(db, owned, direction)
    if (owned.type === 'organization' || operator) throw new errors.ResetByOperators()
  }

  return {
    find,

    async read(caller: Caller, type: EntityType, name: string, sentDirection: unknown) {
      const direction = directionOf(sentDirection) ?? refuse(new errors.InvalidDirection())
      const owned = await find(caller, type, name)
      const { identifier } = owned
      const stored = await repository.findRules(db, owned, direction)
      const fallback = defaultRule(config, type, direction)
      const at = now()
      const counts = await available(
        counting().counters.usage(subjectOf(owned, direction), at.getTime()),
      )
      return {
        entity_type: type,
        identifier,
        direction,
        config: shownRule(stored, fallback),
        operator_limits: byField(operatorLimits(stored, ceilingOf(direction, fallback))),
        ...usageOf(counts, limitsOf(stored, fallback)),
        timestamp: at.toISOString(),
      }
    },

    /** Fields that are not sent stay unchanged, also with two concurrent writers. */
    async write(caller: Caller, type: EntityType, name: string, sent: RuleChange) {
      const direction = directionOf(sent.direction) ?? refuse(new errors.InvalidDirection())
      if (Object.keys(sentFields(sent)).length === 0) throw new NoDataProvided()
      const owned = await find(caller, type, name)
      const by = sent.created_by || actorOf(caller).slice(0, MAX_ATTRIBUTION)
      const fields = sentFields(sent)
      await change(caller, async (tx) => {
        await mergeRule(needs, tx, { owned, direction, setBy: setByOf(caller), by }, fields)
        await repository.noteInSettings(tx, owned, direction, fields)
      })
      await counting().settled()
    },

    async reset(caller: Caller, sent: SentReset, quiet = false) {
      const type = entityTypeOf(sent.type) ?? refuse(new errors.InvalidEntityType())
      const { identifier: name } = sent
      if (typeof name !== 'string' || name === '') throw new errors.MissingIdentifier()
      const direction = directionOf(sent.direction) ?? refuse(new errors.InvalidResetDirection())
      const owned = await find(caller, type, name)
      const { identifier } = owned
      if (caller.scope !== 'platform') await refuseReset(owned, direction)
      const about = { org_id: owned.organizationId, domain: owned.domain }
      // Counters are reset before the event is stored: a second reset is harmless, a missing one is not.
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

const byField = (limits: PerWindow) =>
  Object.fromEntries(LIMIT_FIELDS.map((field, index) => [field, limits[index] ?? 0])) as Record<
    (typeof LIMIT_FIELDS)[number],
    number
  >

/** The process that counts does not answer: 503 in the format of this service. */
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

/** Undefined for an invalid direction; the default is outbound. */
export function directionOf(sent: unknown): Direction | undefined {
  if (sent === undefined || sent === null || sent === 'outbound') return 'outbound'
  return sent === 'inbound' ? 'inbound' : undefined
}

export const entityTypeOf = (sent: unknown): EntityType | undefined =>
  (['organization', 'domain', 'mailbox'] as const).find((type) => type === sent)
