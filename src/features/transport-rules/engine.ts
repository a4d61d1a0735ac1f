import { addDisclaimer, addHeader, changeSubject, removeHeader } from '../../content/edit.ts'
import { type Message, readMessage } from '../../content/message.ts'
import { type Split, splitMessage } from '../../content/split.ts'
import type { Passing } from '../../content/stage.ts'
import type { Vault } from '../../lib/vault.ts'
import type { CompiledRule } from './matching.ts'
import { mayGoOn, readTrace, TRACE_HEADER, writeTrace } from './trace.ts'
import type { Action, Rule } from './vocabulary.ts'

/** Recipients for whom the same rules matched. */
interface Group {
  recipients: string[]
  rules: CompiledRule[]
}

/** What becomes of the message for one group. */
export interface Parcel {
  message: Passing
  held: { rule: Rule; reason: string | undefined } | undefined
  /** Actions that were not carried out, in words. */
  notes: string[]
}

export interface Decision {
  about: Message
  matched: { rule: Rule; recipients: string[] }[]
  /** One refused recipient refuses the message: a mail server takes all of it or nothing. */
  refusal: string | undefined
  parcels: Parcel[]
}

/** What rules make of a message. They all look at it as it came, whatever the ones before did. */
export async function decide(
  rules: readonly CompiledRule[],
  message: Passing,
  vault: Vault,
): Promise<Decision> {
  const split = await splitMessage(message.raw)
  const about = readMessage(split, message.raw.length)
  const groups = groupsOf(rules, message, about)
  const matched = rules.flatMap((rule) => {
    const recipients = groups.filter((one) => one.rules.includes(rule)).flatMap((g) => g.recipients)
    return recipients.length > 0 ? [{ rule, recipients }] : []
  })
  for (const group of groups) {
    const refusal = actionsOf(group).find(({ action }) => action.type === 'reject')
    if (refusal?.action.type === 'reject') {
      return { about, matched, refusal: refusal.action.params.message, parcels: [] }
    }
  }
  const parcels: Parcel[] = []
  for (const group of groups) parcels.push(...(await parcelsOf(group, message, about, vault)))
  return { about, matched, refusal: undefined, parcels }
}

function groupsOf(rules: readonly CompiledRule[], message: Passing, about: Message): Group[] {
  const found = rules.map((rule) => ({
    rule,
    for: new Set(rule.matched(about, message.sender, message.recipients)),
  }))
  const groups = new Map<string, Group>()
  for (const recipient of message.recipients) {
    const hits = found.filter((one) => one.for.has(recipient)).map(({ rule }) => rule)
    const last = hits.findIndex(endsProcessing)
    const own = last === -1 ? hits : hits.slice(0, last + 1)
    const name = own.map(({ id }) => id).join()
    const group = groups.get(name) ?? { recipients: [], rules: own }
    group.recipients.push(recipient)
    groups.set(name, group)
  }
  return [...groups.values()]
}

/** Rules after one that refuses or keeps a message back have nothing left to do. */
const endsProcessing = ({ actions }: Rule): boolean =>
  actions.some(({ type }) => type === 'reject' || type === 'quarantine')

/** What is to be done for a group, up to what ends it. */
function actionsOf({ rules }: Group): { rule: Rule; action: Action }[] {
  const all = rules.flatMap((rule) => rule.actions.map((action) => ({ rule, action })))
  const end = all.findIndex(({ action: { type } }) => type === 'reject' || type === 'quarantine')
  return end === -1 ? all : all.slice(0, end + 1)
}

async function parcelsOf(
  group: Group,
  message: Passing,
  about: Message,
  vault: Vault,
): Promise<Parcel[]> {
  const { recipients } = group
  const actions = actionsOf(group)
  if (actions.length === 0) {
    return [{ message: { ...message, recipients }, held: undefined, notes: [] }]
  }
  const split = await splitMessage(message.raw)
  const notes: string[] = []
  const trace = readTrace(vault, about.messageId, about.header(TRACE_HEADER))
  const route = routeOf(actions, recipients, trace, notes)
  let held: Parcel['held']
  for (const { rule, action } of actions) {
    if (action.type === 'quarantine') held = { rule, reason: action.params.reason }
    else await edit(split, rule, action, notes)
  }
  const parcels: Parcel[] = []
  if (route.stays.length > 0 || held) {
    const to = held ? recipients : route.stays
    parcels.push({ message: { ...message, recipients: to, raw: split.join() }, held, notes })
  }
  if (route.goesOn.length > 0 && !held) {
    removeHeader(split, TRACE_HEADER)
    addHeader(split, TRACE_HEADER, writeTrace(vault, about.messageId, route.trace))
    const raw = split.join()
    parcels.push({ message: { ...message, recipients: route.goesOn, raw }, held: undefined, notes })
  }
  return parcels
}

async function edit(split: Split, rule: Rule, action: Action, notes: string[]): Promise<void> {
  if (action.type === 'add_header') addHeader(split, action.params.name, action.params.value)
  if (action.type === 'modify_subject') changeSubject(split, action.params)
  if (action.type === 'add_disclaimer') {
    const why = await addDisclaimer(split, action.params)
    if (why !== undefined) notes.push(`${rule.name}: no disclaimer, because ${why}`)
  }
}

/** Who gets it: those it was for, unless it is redirected, and whoever gets a copy. */
function routeOf(
  actions: readonly { rule: Rule; action: Action }[],
  recipients: readonly string[],
  before: readonly string[],
  notes: string[],
) {
  const trace = [...before]
  const redirected = new Set<string>()
  const copied = new Set<string>()
  for (const { rule, action } of actions) {
    if (action.type !== 'redirect' && action.type !== 'bcc') continue
    const { address } = action.params
    if (!mayGoOn(before, rule.id)) {
      notes.push(`${rule.name}: not sent on to ${address}, where it came from`)
      continue
    }
    if (!trace.includes(rule.id)) trace.push(rule.id)
    if (action.type === 'redirect') redirected.add(address)
    else copied.add(address)
  }
  const has = (list: Iterable<string>, address: string) =>
    [...list].some((one) => one.toLowerCase() === address)
  const stays =
    redirected.size === 0
      ? [...recipients]
      : recipients.filter((one) => redirected.has(one.toLowerCase()))
  const goesOn = [...redirected, ...copied].filter(
    (address, index, all) => !has(stays, address) && all.indexOf(address) === index,
  )
  return { stays, goesOn, trace }
}
