import type { Mail } from '../../content/stage.ts'
import type { Core } from '../../core.ts'
import { bufferOf, forThread } from '../../lib/shared-bytes.ts'
import { taskIn } from '../../lib/worker-pool.ts'
import { MimeMessage } from '../../mime/message.ts'
import type { Version } from './edit.task.ts'
import type { Group } from './match.task.ts'
import { mayForward, readTrace, writeTrace } from './trace.ts'
import type { Action, Rule } from './vocabulary.ts'

/** All versions of a message together; beyond this they would take too much memory. */
const MAX_BYTES = 128 * 1024 * 1024

const matchTask = taskIn<typeof import('./match.task.ts')>('features/transport-rules/match')
const editTask = taskIn<typeof import('./edit.task.ts')>('features/transport-rules/edit')

/** Rules that apply to one direction, with the form in which worker threads get them. */
export interface RuleSet {
  rules: Rule[]
  json: string
}

export function ruleSet(all: readonly Rule[], direction: Mail['direction']): RuleSet {
  const rules = all.filter((rule) => rule.direction === 'both' || rule.direction === direction)
  return { rules, json: JSON.stringify(rules) }
}

/** The mail for one group, after its rules were applied. */
export interface Parcel {
  mail: Mail
  held: { rule: Rule; reason: string | undefined } | undefined
  /** The reasons for skipped actions. */
  notes: string[]
}

export interface Decision {
  matched: { rule: Rule; recipients: string[] }[]
  /** Rejects the message for all recipients: SMTP has one reply for all of them. */
  refusal: string | undefined
  parcels: Parcel[]
}

interface Needs extends Pick<Core, 'vault' | 'workers'> {
  timeLimitMs: number
}

/** Applies rules to mail. All conditions are tested on the message as it arrived. */
export async function decide(
  { rules, json }: RuleSet,
  mail: Mail,
  { timeLimitMs, vault, workers }: Needs,
): Promise<Decision> {
  const limits = { owner: mail.organizationId, timeLimitMs }
  const raw = forThread(mail.message.raw)
  const { recipients, sender } = mail
  const input = { rules: json, sender, recipients, raw }
  const { groups, traces } = await workers.run(matchTask, input, limits)
  const matched = matchedRules(rules, groups)
  const plans = groups.map((group) => ({ group, actions: actionsOf(rules, group) }))
  for (const { actions } of plans) {
    const refusal = actions.find(({ action }) => action.type === 'reject')
    if (refusal?.action.type === 'reject') {
      return { matched, refusal: refusal.action.params.message, parcels: [] }
    }
  }
  const { messageId } = mail.message
  const trace = readTrace(vault, messageId, traces)
  const routed = plans.map(({ group, actions }) => ({
    actions,
    recipients: group.recipients,
    ...routeOf(actions, group.recipients, trace),
  }))
  const versions: Version[] = routed.map(({ actions, forwarded, trace: hops }) => ({
    edits: actions
      .filter(({ action }) => EDITS.has(action.type))
      .map(({ rule, action }) => ({ rule: rule.name, action })),
    trace: forwarded.length > 0 ? writeTrace(vault, messageId, hops) : undefined,
  }))
  const changed = versions.filter(({ edits, trace }) => edits.length > 0 || trace !== undefined)
  if (changed.length > 1 && changed.length * raw.length > MAX_BYTES) {
    return { matched, refusal: '5.3.4 the rules make too many versions of it', parcels: [] }
  }
  const edited =
    changed.length === 0 ? [] : await workers.run(editTask, { raw, versions: changed }, limits)
  const parcels = routed.flatMap((route, index) =>
    parcelsOf(mail, route, edited[changed.indexOf(versions[index] as Version)]),
  )
  return { matched, refusal: undefined, parcels }
}

function matchedRules(rules: readonly Rule[], groups: readonly Group[]): Decision['matched'] {
  const recipients = new Map<number, string[]>()
  for (const group of groups) {
    for (const position of group.rules) {
      const known = recipients.get(position) ?? []
      known.push(...group.recipients)
      recipients.set(position, known)
    }
  }
  return rules.flatMap((rule, position) => {
    const matching = recipients.get(position)
    return matching ? [{ rule, recipients: matching }] : []
  })
}

interface RuleAction {
  rule: Rule
  action: Action
}

const EDITS = new Set<Action['type']>(['add_header', 'modify_subject', 'add_disclaimer'])

/** The actions for a group, up to the first that rejects or quarantines. */
function actionsOf(rules: readonly Rule[], group: Group): RuleAction[] {
  const all = group.rules.flatMap((position) => {
    const rule = rules[position] as Rule
    return rule.actions.map((action) => ({ rule, action }))
  })
  const end = all.findIndex(({ action: { type } }) => type === 'reject' || type === 'quarantine')
  return end === -1 ? all : all.slice(0, end + 1)
}

type Route = ReturnType<typeof routeOf> & { actions: RuleAction[]; recipients: string[] }

function parcelsOf(
  mail: Mail,
  { actions, recipients, original, forwarded, notes: routing }: Route,
  edited: { original?: Uint8Array; forwarded?: Uint8Array; notes: string[] } | undefined,
): Parcel[] {
  const notes = [...routing, ...(edited?.notes ?? [])]
  const messageOf = (raw: Uint8Array | undefined) =>
    raw ? new MimeMessage(bufferOf(raw)) : mail.message
  const quarantine = actions.at(-1)
  if (quarantine?.action.type === 'quarantine') {
    const held = { rule: quarantine.rule, reason: quarantine.action.params.reason }
    return [{ mail: { ...mail, recipients, message: messageOf(edited?.original) }, held, notes }]
  }
  const parcels: Parcel[] = []
  if (original.length > 0) {
    const message = messageOf(edited?.original)
    parcels.push({ mail: { ...mail, recipients: original, message }, held: undefined, notes })
  }
  if (forwarded.length > 0) {
    const message = messageOf(edited?.forwarded)
    parcels.push({ mail: { ...mail, recipients: forwarded, message }, held: undefined, notes })
  }
  return parcels
}

/** The original recipients unless redirected, and the targets of redirects and copies. */
function routeOf(
  actions: readonly RuleAction[],
  recipients: readonly string[],
  before: readonly string[],
) {
  const notes: string[] = []
  const trace = [...before]
  const redirected = new Set<string>()
  const copied = new Set<string>()
  for (const { rule, action } of actions) {
    if (action.type !== 'redirect' && action.type !== 'bcc') continue
    const { address } = action.params
    if (!mayForward(before, rule.id)) {
      notes.push(`${rule.name}: not sent on to ${address}, where it came from`)
      continue
    }
    if (!trace.includes(rule.id)) trace.push(rule.id)
    if (action.type === 'redirect') redirected.add(address)
    else copied.add(address)
  }
  const original =
    redirected.size === 0
      ? [...recipients]
      : recipients.filter((recipient) => redirected.has(recipient.toLowerCase()))
  const kept = new Set(original.map((address) => address.toLowerCase()))
  const forwarded = [...new Set([...redirected, ...copied])].filter((address) => !kept.has(address))
  return { original, forwarded, trace, notes }
}
