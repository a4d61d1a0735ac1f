import { isSameAddress } from './address.ts'
import { JUNK } from './blocked-senders.ts'
import type { Forwarding } from './forwarding.ts'
import { addressesIn } from './header-addresses.ts'
import { compares, folded } from './matching.ts'
import { type Field, type Rule, type Step, type Test, usable } from './rules.ts'
import type { Vacation } from './vacation.ts'

/** A message with decoded headers and the body as plain text. */
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
  /** The folders that get a copy, with its flags; empty when no copy stays. */
  stored: { folder: string; flags: string[] }[]
  forwarded_to: string[]
  discarded: boolean
  vacation_reply: boolean
}

const FLAGS: Record<string, string> = { flag: '\\Flagged', mark_read: '\\Seen' }

/** Simulates the four components, in their order, for a message that arrives now. */
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
  const texts = textsOf(message)
  for (const rule of settings.rules) {
    const parts = usable(rule)
    if (!parts || !holds(rule.match, parts.tests, texts)) continue
    outcome.matched_rules.push({ id: rule.id, name: rule.name })
    parts.steps.forEach(act)
  }
  const { forwarding, vacation } = settings
  if (forwarding.enabled && forwarding.addresses.length > 0) {
    // Sieve merges redirects to one address, and the redirect of a rule keeps a copy.
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

/** Sieve stores one copy per folder, with the flags of all actions. */
function store({ stored }: Outcome, name: string, flags: ReadonlySet<string>): void {
  const folder = name.toUpperCase() === 'INBOX' ? 'INBOX' : name
  const copy = stored.find((one) => one.folder === folder)
  if (copy) copy.flags = [...new Set([...copy.flags, ...flags])]
  else stored.push({ folder, flags: [...flags] })
}

/** Returns false for a repeated address. RFC 5321 §2.3.11: only the domain ignores case. */
function forward({ forwarded_to }: Outcome, address: string): boolean {
  const at = address.lastIndexOf('@')
  const to = address.slice(0, at) + address.slice(at).toLowerCase()
  const isNew = !forwarded_to.includes(to)
  if (isNew) forwarded_to.push(to)
  return isNew
}

const holds = (match: Rule['match'], tests: readonly Test[], texts: Texts): boolean =>
  match === 'any'
    ? tests.some((test) => passes(test, texts))
    : tests.every((test) => passes(test, texts))

const passes = ({ field, operator, value }: Test, texts: Texts): boolean => {
  const pattern = folded(value)
  const { whole, addresses } = texts[field]
  const compared = operator === 'contains' ? whole : [...whole, ...addresses]
  return compared.some((text) => compares(operator, text, pattern))
}

/** The texts that a field is compared with, folded once for all rules. */
type Texts = Record<Field, { whole: string[]; addresses: string[] }>

function textsOf({ from, to, cc, subject, body }: Message): Texts {
  const header = (value: string | undefined) =>
    value === undefined ? [] : [folded(value.replace(/[\r\n]+/g, '').trim())]
  const addresses = (value = '') => addressesIn(value).map(folded)
  return {
    from: { whole: header(from), addresses: addresses(from) },
    to: { whole: header(to), addresses: addresses(to) },
    cc: { whole: header(cc), addresses: addresses(cc) },
    subject: { whole: header(subject), addresses: [] },
    body: { whole: [folded(bodyText(body ?? ''))], addresses: [] },
  }
}

/** The last line of a message has a line end too. */
const bodyText = (body: string) => (body === '' || /[\r\n]$/.test(body) ? body : `${body}\n`)
