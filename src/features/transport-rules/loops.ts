import type { Action, Condition } from './vocabulary.ts'

const MAX_STEPS = 30
const MAX_SEEN = 1000

/** What of a rule can send mail from one address to another. */
export interface Sending {
  name: string
  conditions: readonly Condition[]
  actions: readonly Action[]
}

type AliasLookup = (addresses: string[]) => Promise<{ source: string; destinations: string[] }[]>

/** Addresses that a rule names as recipients: for others nobody can tell before there is mail. */
export const sourcesOf = ({ conditions }: Sending): string[] =>
  conditions
    .filter(({ field, operator }) => field === 'recipient' && operator === 'equals')
    .map(({ value }) => value.trim().toLowerCase())

export const targetsOf = ({ actions }: Sending): string[] =>
  actions.flatMap((action) =>
    action.type === 'redirect' || action.type === 'bcc' ? [action.params.address] : [],
  )

/**
 * The way that mail would take back to where the rule took it from: through other rules and aliases
 * of the organization. Undefined when there is none.
 */
export async function findWayBack(
  rule: Sending,
  others: readonly Sending[],
  aliases: AliasLookup,
): Promise<string[] | undefined> {
  for (const source of sourcesOf(rule)) {
    const way = await wayBetween(targetsOf(rule), source, others, aliases)
    if (way) return [source, ...way]
  }
  return undefined
}

async function wayBetween(
  from: string[],
  to: string,
  rules: readonly Sending[],
  aliases: AliasLookup,
): Promise<string[] | undefined> {
  const cameFrom = new Map<string, string | undefined>(from.map((one) => [one, undefined]))
  let level = from
  for (let steps = 0; level.length > 0 && steps < MAX_STEPS; steps++) {
    if (cameFrom.has(to)) return wayTo(to, cameFrom)
    const next: string[] = []
    const go = (source: string, target: string) => {
      if (cameFrom.has(target) || cameFrom.size > MAX_SEEN) return
      cameFrom.set(target, source)
      next.push(target)
    }
    for (const { source, destinations } of await aliases(level)) {
      for (const target of destinations) go(source, target)
    }
    for (const rule of rules) {
      const taken = sourcesOf(rule).filter((source) => level.includes(source))
      for (const source of taken) for (const target of targetsOf(rule)) go(source, target)
    }
    level = next
  }
  return undefined
}

function wayTo(end: string, cameFrom: ReadonlyMap<string, string | undefined>): string[] {
  const way: string[] = []
  for (let step: string | undefined = end; step !== undefined; step = cameFrom.get(step)) {
    way.unshift(step)
  }
  return way
}
