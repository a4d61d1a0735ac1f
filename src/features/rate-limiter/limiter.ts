import type { Config } from '../../config.ts'
import type { Core } from '../../core.ts'
import type { Outbox } from '../../events/outbox.ts'
import {
  type Bound,
  type Counters,
  type Direction,
  type EntityType,
  nameOf,
  type Verdict,
} from './counters.ts'
import { RateLimitExceeded, RateLimitThresholdBreach } from './rate-limiter.events.ts'
import { defaultRule, limitsOf, type Rule } from './rules.ts'
import type { Sender, Senders } from './senders.ts'
import { WINDOWS, type WindowName } from './windows.ts'

const FLOOD = 20
const FLOOD_MS = 60_000

export interface Message {
  /** Who sends: the login when there is one, else the envelope sender. */
  sender: string
  direction: Direction
  /** A service of the installation sends it: the sender need not be somebody who can log in. */
  trusted?: boolean
  recipient?: string | undefined
  recipientCount?: number | undefined
  record: boolean
  instance?: string | undefined
}

export interface Decision {
  allowed: boolean
  /** Waiting does not help. */
  final?: boolean
  message?: string
  refused?: {
    entity_type: string
    identifier: string
    window: WindowName
    limit: number
    count: number
  }
}

const ALLOWED: Decision = { allowed: true }

interface Needs extends Pick<Core, 'config' | 'now'> {
  counters: Counters
  senders: Pick<Senders, 'find'>
  outbox: Pick<Outbox, 'add'>
}

export type Limiter = ReturnType<typeof limiter>

/** Decides whether a message may go on, and counts it when it may. */
export function limiter({ config, counters, now, outbox, senders }: Needs) {
  const defaults = defaultRules(config)
  const floods = floodGuard()

  // A sender is replaced when anything about it changes, and is known for one direction.
  const made = { all: new WeakMap<Sender, Bound[]>(), stored: new WeakMap<Sender, Bound[]>() }
  function boundsOf(sender: Sender, direction: Direction, storedOnly: boolean): Bound[] {
    const known = storedOnly ? made.stored : made.all
    let bounds = known.get(sender)
    if (!bounds) {
      bounds = makeBounds(sender, direction, storedOnly)
      known.set(sender, bounds)
    }
    return bounds
  }

  /** By priority; among equals from the organization down. An entity without a rule has the default. */
  function makeBounds(sender: Sender, direction: Direction, storedOnly: boolean): Bound[] {
    const ruled = (type: EntityType, identifier: string) => {
      const stored = sender.rules.find((rule) => rule.entity_type === type)
      const fallback = defaults[direction][type]
      const rule = stored ?? fallback
      return {
        priority: rule.priority,
        subject: { organizationId: sender.organizationId, type, identifier, direction },
        limits: stored || !storedOnly ? limitsOf(stored, fallback) : UNLIMITED,
        warning: rule.warning_threshold,
        critical: rule.critical_threshold,
      }
    }
    const bounds = [ruled('organization', sender.organizationId), ruled('domain', sender.domain)]
    const { login } = sender
    if (login?.kind === 'mailbox') bounds.push(ruled('mailbox', sender.name))
    bounds.sort((one, other) => one.priority - other.priority)
    return login?.kind === 'smtp_credential'
      ? [...bounds, credentialBound(sender, login, direction, config)]
      : bounds
  }

  function decisionOf(verdict: Verdict, sender: Sender, message: Message): Decision {
    const about = { org_id: sender.organizationId, domain: sender.domain }
    for (const { bound, window, level, count, limit } of verdict.breaches) {
      const { type: entity_type, identifier, direction } = bound.subject
      outbox.add(RateLimitThresholdBreach, about, {
        entity_type: entityName(entity_type),
        identifier,
        direction,
        window,
        current_count: count,
        limit,
        usage_percentage: Math.round((count / limit) * 10_000) / 100,
        threshold_level: level,
      })
    }
    if (!verdict.refused) return ALLOWED
    const { bound, window, limit, count } = verdict.refused
    const { type: entity_type, identifier, direction } = bound.subject
    const refused = { entity_type: entityName(entity_type), identifier, window, limit, count }
    const per = WINDOWS.find(({ name }) => name === window)?.per
    const whose =
      entity_type === 'organization' ? 'the organization' : `${entity_type} ${identifier}`
    const text = `Rate limit exceeded: ${whose} may pass ${limit} messages ${per}`
    const refusals = message.record ? floods.tell(nameOf(bound.subject) + window, now()) : 0
    if (refusals > 0) {
      const { count: current_count, ...rest } = refused
      const { sender } = message
      const told = { ...rest, direction, current_count, message: text, sender, refusals }
      outbox.add(RateLimitExceeded, about, told)
    }
    return { allowed: false, message: text, refused }
  }

  function judge(
    sender: Sender,
    message: Message,
    storedOnly: boolean,
  ): Decision | Promise<Decision> {
    const bounds = boundsOf(sender, message.direction, storedOnly)
    const byRecipients = config.RATE_LIMIT_COUNTS === 'recipients'
    const verdict = counters.decide({
      organizationId: sender.organizationId,
      bounds,
      amount: byRecipients ? Math.max(1, message.recipientCount ?? 1) : 1,
      record: message.record,
      instance: message.instance,
      now: now().getTime(),
    })
    return verdict instanceof Promise
      ? verdict.then((found) => decisionOf(found, sender, message))
      : decisionOf(verdict, sender, message)
  }

  /** Mail from elsewhere is bound by what its recipient's side has set; defaults are for our own. */
  async function fromElsewhere(message: Message): Promise<Decision> {
    const host = message.recipient ? await senders.find(message.recipient, 'inbound') : undefined
    return host ? judge(host, message, true) : ALLOWED
  }

  function forSender(sender: Sender | undefined, message: Message): Decision | Promise<Decision> {
    if (message.direction === 'inbound') {
      return sender ? judge(sender, message, false) : fromElsewhere(message)
    }
    const isAddress = message.trusted && sender !== undefined && sender.login === undefined
    const problem = isAddress ? undefined : loginProblem(sender, now())
    if (problem) return { allowed: false, final: true, message: `${message.sender}: ${problem}` }
    return judge(sender as Sender, message, false)
  }

  return {
    check(message: Message): Decision | Promise<Decision> {
      const sender = senders.find(message.sender, message.direction)
      return sender instanceof Promise
        ? sender.then((found) => forSender(found, message))
        : forSender(sender, message)
    },

    /** Counts what has already happened, whatever the limits say. Undefined: nobody hosted here. */
    async add(name: string, direction: Direction, amount: number): Promise<Decision | undefined> {
      const sender = await senders.find(name, direction)
      if (!sender) return undefined
      const bounds = boundsOf(sender, direction, false).map((bound) => ({
        ...bound,
        limits: UNLIMITED,
      }))
      const { organizationId } = sender
      const question = { organizationId, bounds, amount, record: true, now: now().getTime() }
      return decisionOf(await counters.decide(question), sender, {
        sender: name,
        direction,
        record: true,
      })
    },
  }
}

/** As the specification calls them. */
const entityName = (type: Bound['subject']['type']) =>
  type === 'credential' ? 'smtp_credential' : type

const UNLIMITED = WINDOWS.map(() => 0)

const defaultRules = (config: Config): Record<Direction, Record<EntityType, Rule>> => {
  const of = (direction: Direction) => ({
    organization: defaultRule(config, 'organization', direction),
    domain: defaultRule(config, 'domain', direction),
    mailbox: defaultRule(config, 'mailbox', direction),
  })
  return { outbound: of('outbound'), inbound: of('inbound') }
}

/** A session outlives what allowed it: its login may be revoked or over by now. */
function loginProblem(sender: Sender | undefined, now: Date): string | undefined {
  if (!sender?.login) return 'this login is not known here'
  const { active, expires_at } = sender.login
  if (!active) return 'this login is not active'
  if (expires_at !== null && Date.parse(expires_at) <= now.getTime()) {
    return 'this login has expired'
  }
  return undefined
}

const credentialBound = (
  { name, organizationId }: Sender,
  { hourly_limit, daily_limit }: { hourly_limit: number | null; daily_limit: number | null },
  direction: Direction,
  config: Config,
): Bound => ({
  subject: { organizationId, type: 'credential', identifier: name, direction },
  limits: WINDOWS.map((window) => {
    if (window.name === 'hourly') return hourly_limit ?? 0
    return window.name === 'daily' ? (daily_limit ?? 0) : 0
  }),
  warning: config.RATE_LIMIT_WARNING_THRESHOLD,
  critical: config.RATE_LIMIT_CRITICAL_THRESHOLD,
})

/** Every refusal is told, until they come in a flood: then they are told in sums. */
function floodGuard() {
  const seen = new Map<string, { since: number; told: number; untold: number }>()
  return {
    /** How many refusals are to be told now. */
    tell(name: string, now: Date): number {
      const at = now.getTime()
      const last = seen.get(name)
      if (!last || at - last.since >= FLOOD_MS) {
        if (seen.size > 10_000) seen.clear()
        seen.set(name, { since: at, told: 1, untold: 0 })
        return 1 + (last?.untold ?? 0)
      }
      if (last.told < FLOOD) {
        last.told++
        return 1
      }
      last.untold++
      return 0
    },
  }
}
