import { anonymous, type Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Counting } from './counting.ts'
import type { Limiter } from './limiter.ts'
import * as errors from './rate-limiter.errors.ts'
import type { RuleChange } from './rate-limiter.schemas.ts'
import {
  available,
  directionOf,
  entityTypeOf,
  type RateLimiterService,
} from './rate-limiter.service.ts'
import { countsByName } from './usage.ts'

interface Needs extends Pick<Core, 'now'> {
  counting: Pick<Counting, 'counters'>
  limiter: Limiter
  limits: RateLimiterService
}

export type InternalService = ReturnType<typeof internalService>

/** What other services of this installation ask. They speak for the whole platform. */
export function internalService({ counting, limiter, limits, now }: Needs) {
  const platform: Caller = {
    ...anonymous,
    scope: 'platform',
    ip: '',
    userAgent: null,
    correlationId: '',
    atCommit: [],
  }

  return {
    /** The word for what is wrong with the question, or the decision. */
    async check(sent: Record<string, unknown>) {
      const sender = nameOf(sent.email) ?? nameOf(sent.sender)
      if (sender === undefined) return 'missing_email' as const
      const direction = directionOf(sent.direction)
      if (!direction) return 'invalid_direction' as const
      const check = async () =>
        limiter.check({
          sender,
          direction,
          recipient: nameOf(sent.recipient),
          recipientCount: Number.isInteger(sent.recipient_count)
            ? (sent.recipient_count as number)
            : undefined,
          record: sent.record === true,
          instance: typeof sent.instance === 'string' && sent.instance ? sent.instance : undefined,
        })
      return available(check())
    },

    async increment(sent: Record<string, unknown>) {
      const sender = nameOf(sent.email)
      if (sender === undefined) return 'missing_email' as const
      const direction = directionOf(sent.direction)
      if (!direction) return 'invalid_direction' as const
      const amount = sent.amount ?? 1
      if (!Number.isSafeInteger(amount) || (amount as number) < 1) return 'invalid_amount' as const
      const added = await available(limiter.add(sender, direction, amount as number))
      return added ?? ('unknown_email' as const)
    },

    async usage(sentType: string, name: string, sentDirection: unknown) {
      const type = entityTypeOf(sentType)
      if (!type) throw new errors.InvalidEntityType()
      const direction = directionOf(sentDirection)
      if (!direction) throw new errors.InvalidDirection()
      const { organizationId, identifier } = await limits.find(platform, type, name)
      const subject = { organizationId, type, identifier, direction }
      const counts = await available(counting.counters.usage(subject, now().getTime()))
      return { entity_type: type, identifier, direction, usage: countsByName(counts) }
    },

    async setLimits(sent: RuleChange & { entity_type?: unknown; identifier?: unknown }) {
      const type = entityTypeOf(sent.entity_type)
      if (!type) throw new errors.InvalidEntityType()
      if (typeof sent.identifier !== 'string') throw new errors.MissingIdentifier()
      const by = { created_by: sent.created_by ?? 'rate_limiter' }
      await limits.write(platform, type, sent.identifier, { ...sent, ...by })
    },

    /** Quiet: whoever asks tells of it. */
    reset: (sent: Record<string, unknown>) => limits.reset(platform, sent, sent.quiet === true),
  }
}

const nameOf = (sent: unknown): string | undefined =>
  typeof sent === 'string' && sent.trim() !== '' ? sent.trim().toLowerCase() : undefined
