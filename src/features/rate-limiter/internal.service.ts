import { anonymous, type Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import type { Senders } from '../../hosting/senders.ts'
import type { Question } from './counters/counters.ts'
import type { Counting } from './counters/counting.ts'
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

interface Needs extends Pick<Core, 'log' | 'now'> {
  counting: Pick<Counting, 'counters'>
  limiter: Limiter
  limits: RateLimiterService
  senders: Pick<Senders, 'find'>
  /** The reason why an organization does not send to an e-mail address. */
  refusals: {
    suppressed(
      organizationId: string,
      recipient: string,
      kind: 'bulk' | 'personal',
    ): Found | Promise<Found>
  }
}

type Found = string | undefined

export type InternalService = ReturnType<typeof internalService>

/** Called by other services of this installation, with the rights of the platform. */
export function internalService({ counting, limiter, limits, log, now, refusals, senders }: Needs) {
  const platform: Caller = {
    ...anonymous,
    scope: 'platform',
    ip: '',
    userAgent: null,
    correlationId: '',
    atStart: [],
    atCommit: [],
  }

  /** Checked before the message is counted. On an error the recipient is treated as not suppressed. */
  async function suppression(sender: string, recipient: string): Promise<Found> {
    try {
      const known = await senders.find(sender, 'outbound')
      const kind = known?.login?.kind === 'mailbox' ? 'personal' : 'bulk'
      return known && (await refusals.suppressed(known.organizationId, recipient, kind))
    } catch (error) {
      log.warn({ err: error }, 'suppression check failed, recipient treated as not suppressed')
      return undefined
    }
  }

  return {
    /** Returns an error code for an invalid question, or the decision. */
    async check(sent: Record<string, unknown>) {
      const sender = nameOf(sent.email) ?? nameOf(sent.sender)
      if (sender === undefined) return 'missing_email' as const
      const direction = directionOf(sent.direction)
      if (!direction) return 'invalid_direction' as const
      const recipient = nameOf(sent.recipient)
      const recipientCount = Number.isInteger(sent.recipient_count)
        ? (sent.recipient_count as number)
        : undefined
      // With several recipients the mail server asks for each one, so only a single one is checked here.
      const isForOne = recipient !== undefined && (recipientCount ?? 1) <= 1
      if (direction === 'outbound' && isForOne) {
        const why = await suppression(sender, recipient)
        if (why) return { allowed: false, suppressed: true, message: `${recipient}: ${why}` }
      }
      const check = async () =>
        limiter.check({
          sender,
          direction,
          recipient,
          recipientCount,
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

    /** For the other processes of this installation, which have no counters of their own. */
    decide: (question: Question) => available(Promise.resolve(counting.counters.decide(question))),

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

    /** Emits no event: the caller does. */
    reset: (sent: Record<string, unknown>) => limits.reset(platform, sent, sent.quiet === true),
  }
}

const nameOf = (sent: unknown): string | undefined =>
  typeof sent === 'string' && sent.trim() !== '' ? sent.trim().toLowerCase() : undefined
