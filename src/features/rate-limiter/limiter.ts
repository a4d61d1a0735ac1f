import type { Config } from '../../config/index.ts'
import type { Core } from '../../core.ts'
import type { Outbox } from '../../events/outbox.ts'
import type { Direction, EntityType, Rule, RulePair } from '../../hosting/rate-rules.ts'
import type { Sender, Senders } from '../../hosting/senders.ts'
import { lruMap } from '../../lib/lru-map.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import { type Bound, type Counters, nameOf, type Verdict } from './counters/counters.ts'
import { WINDOWS, type WindowName } from './counters/windows.ts'
import { RateLimitExceeded, RateLimitThresholdBreach } from './rate-limiter.events.ts'
import { defaultRule, limitsOf, ruleIn } from './rules.ts'

const FLOOD = 20
const FLOOD_MS = MINUTE_MS
const MAX_FLOODS = 10_000

export interface Message {
  /** The login when there is one, else the envelope sender. */
  sender: string
  direction: Direction
  /** Sent by a service of this installation: the sender need not be a login. */
  trusted?: boolean
  recipient?: string | undefined
  recipientCount?: number | undefined
  /** Defaults to 1; 0 for further recipients of a message that has been counted. */
  messages?: number
  record: boolean
  instance?: string | undefined
}

export interface Decision {
  allowed: boolean
  /** A retry would be refused too. */
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

/** Decides whether a message may pass, and counts it when it may. */
export function limiter({ config, counters, now, outbox, senders }: Needs) {
  const defaults = defaultRules(config)
  const floods = floodGuard()

  // The cache of senders makes a new object for every change and direction, so bounds can be cached by object.
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

  /** Ordered by priority, then from the organization down. An entity without a rule has the default. */
  function makeBounds(sender: Sender, direction: Direction, storedOnly: boolean): Bound[] {
    const ruled = (type: EntityType, identifier: string) => {
      const stored = rulesFor(sender, type)
      const fallback = defaults[direction][type]
      const rule = ruleIn(stored, fallback)
      return {
        priority: rule.priority,
        subject: { organizationId: sender.organizationId, type, identifier, direction },
        limits: limitsOf(stored, storedOnly ? undefined : fallback),
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
    const { per, unit } = WINDOWS.find(({ name }) => name === window) ?? WINDOWS[0]
    const whose =
      entity_type === 'organization' ? 'the organization' : `${entity_type} ${identifier}`
    const text = `Rate limit exceeded: ${whose} may pass ${limit} ${unit} ${per}`
    const refusals = message.record ? floods.count(nameOf(bound.subject) + window, now()) : 0
    if (refusals > 0) {
      const { count: current_count, ...rest } = refused
      const { sender } = message
      const told = { ...rest, direction, current_count, message: text, sender, refusals }
      outbox.add(RateLimitExceeded, about, told)
    }
    const isTooLarge = unit === 'recipients' && recipientsOf(message) > limit
    return { allowed: false, ...(isTooLarge && { final: true }), message: text, refused }
  }

  function judge(
    sender: Sender,
    message: Message,
    storedOnly: boolean,
  ): Decision | Promise<Decision> {
    const bounds = boundsOf(sender, message.direction, storedOnly)
    const verdict = counters.decide({
      organizationId: sender.organizationId,
      bounds,
      messages: message.messages ?? 1,
      recipients: recipientsOf(message),
      record: message.record,
      instance: message.instance,
      now: now().getTime(),
    })
    return verdict instanceof Promise
      ? verdict.then((found) => decisionOf(found, sender, message))
      : decisionOf(verdict, sender, message)
  }

  /** Mail from outside is limited by stored inbound rules of the recipient only, not by defaults. */
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

    /** Counts messages that were already sent, without limits. Undefined for a sender that is not hosted here. */
    async add(name: string, direction: Direction, amount: number): Promise<Decision | undefined> {
      const sender = await senders.find(name, direction)
      if (!sender) return undefined
      const bounds = boundsOf(sender, direction, false).map((bound) => ({
        ...bound,
        limits: UNLIMITED,
      }))
      const { organizationId } = sender
      const question = {
        organizationId,
        bounds,
        messages: amount,
        recipients: amount,
        record: true,
        now: now().getTime(),
      }
      return decisionOf(await counters.decide(question), sender, {
        sender: name,
        direction,
        record: true,
      })
    },
  }
}

const recipientsOf = ({ recipientCount }: Message): number => Math.max(1, recipientCount ?? 1)

const rulesFor = ({ rules }: Sender, type: EntityType): RulePair =>
  Object.fromEntries(
    rules.filter((rule) => rule.entity_type === type).map((rule) => [rule.set_by, rule]),
  )

/** The names of the API specification. */
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

/** An SMTP session may outlive its login, which may be revoked or expired by now. */
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

/** Emits every refusal up to a limit per minute; further ones are added to the next event. */
function floodGuard() {
  const windows = lruMap<string, { since: number; emitted: number; skipped: number }>(MAX_FLOODS)
  return {
    /** Returns the number of refusals that the event reports; 0 means no event. */
    count(name: string, now: Date): number {
      const at = now.getTime()
      const window = windows.get(name)
      if (!window || at - window.since >= FLOOD_MS) {
        windows.set(name, { since: at, emitted: 1, skipped: 0 })
        return 1 + (window?.skipped ?? 0)
      }
      if (window.emitted < FLOOD) {
        window.emitted++
        return 1
      }
      window.skipped++
      return 0
    },
  }
}
