import { isSameAddress } from './address.ts'
import { JUNK } from './blocked-senders.ts'
import type { Forwarding } from './forwarding.ts'
import { addressesIn } from './header-addresses.ts'
import { compares } from './matching.ts'
import { type Rule, type Step, type Test, usable } from './rules.ts'
import type { Vacation } from './vacation.ts'

/** A message as its reader sees it: headers decoded, the body as plain text. */
export interface Message {
  from?: string
  to?: string
  cc?: string
  subject?: string
  body?: string
}

export interface Settings {
  blocked: readonly string[]
  rules: readonly Rule[]
  forwarding: Forwarding
  vacation: Vacation
}

export interface Outcome {
  blocked: boolean
  matched_rules: { id: string; name: string }[]
  /** Where the message ends up, with its flags; empty when no copy stays. */
  stored: { folder: string; flags: string[] }[]
  forwarded_to: string[]
  discarded: boolean
  vacation_reply: boolean
}

const FLAGS: Record<string, string> = { flag: '\\Flagged', mark_read: '\\Seen' }

/** What the four components would do, in their order, to a message that arrives now. */
export function dryRun(message: Message, settings: Settings, ownAddress: string): Outcome {
  const senders = addressesIn(message.from ?? '')
  if (senders.some((from) => settings.blocked.some((one) => isSameAddress(one, from)))) {
    return {
      ...nothing(),
      blocked: true,
      stored: [{ folder: JUNK, flags: [] }],
    }
  }
  const outcome = nothing()
  const flags = new Set<string>()
  let keeps = true
  const act = (step: Step) => {
    if (step.type === 'flag' || step.type === 'mark_read') flags.add(FLAGS[step.type] as string)
    else if (step.type === 'forward') forward(outcome, step.value)
    else keeps = false
    if (step.type === 'move') store(outcome, step.value, flags)
    if (step.type === 'discard') outcome.discarded = true
  }
  for (const rule of settings.rules) {
    const parts = usable(rule)
    if (!parts || !holds(rule.match, parts.tests, message)) continue
    outcome.matched_rules.push({ id: rule.id, name: rule.name })
    parts.steps.forEach(act)
  }
  const { forwarding, vacation } = settings
  if (forwarding.enabled && forwarding.addresses.length > 0) {
    // A second redirect to one address is the first one, and that of a rule leaves a copy.
    const isNew = forwarding.addresses.map((to) => forward(outcome, to)).includes(true)
    keeps &&= forwarding.keep_copy || !isNew
  }
  if (keeps) store(outcome, 'INBOX', flags)
  const recipients = addressesIn([message.to, message.cc].filter(Boolean).join(', '))
  outcome.vacation_reply =
    vacation.enabled &&
    vacation.message !== null &&
    recipients.some((to) => isSameAddress(to, ownAddress)) &&
    senders.every((from) => !isSameAddress(from, ownAddress))
  return outcome
}

const nothing = (): Outcome => ({
  blocked: false,
  matched_rules: [],
  stored: [],
  forwarded_to: [],
  discarded: false,
  vacation_reply: false,
})

/** A second copy in the same folder is the first one, with the flags of both. */
function store({ stored }: Outcome, name: string, flags: ReadonlySet<string>): void {
  const folder = name.toUpperCase() === 'INBOX' ? 'INBOX' : name
  const there = stored.find((one) => one.folder === folder)
  if (there) there.flags = [...new Set([...there.flags, ...flags])]
  else stored.push({ folder, flags: [...flags] })
}

/** False when it goes there already. RFC 5321 §2.3.11: only the domain's case means nothing. */
function forward({ forwarded_to }: Outcome, address: string): boolean {
  const at = address.lastIndexOf('@')
  const to = address.slice(0, at) + address.slice(at).toLowerCase()
  const isNew = !forwarded_to.includes(to)
  if (isNew) forwarded_to.push(to)
  return isNew
}

const holds = (match: Rule['match'], tests: readonly Test[], message: Message): boolean =>
  match === 'any'
    ? tests.some((test) => passes(test, message))
    : tests.every((test) => passes(test, message))

function passes({ field, operator, value }: Test, message: Message): boolean {
  const given = message[field]
  if (field === 'body') return compares(operator, bodyText(given ?? ''), value)
  if (given === undefined) return false
  const texts =
    field === 'subject' || operator === 'contains'
      ? [headerText(given)]
      : [headerText(given), ...addressesIn(given)]
  return texts.some((text) => compares(operator, text, value))
}

/** The last line of a message ends like all others. */
const bodyText = (body: string) => (body === '' || /[\r\n]$/.test(body) ? body : `${body}\n`)

const headerText = (value: string) => value.replace(/[\r\n]+/g, '').trim()
