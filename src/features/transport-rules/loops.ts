import type { Action, Condition } from './vocabulary.ts'

const MAX_STEPS = 30
const MAX_VISITED = 1000

/** The parts of a rule that decide whether it forwards mail, and where to. */
interface ForwardingRule {
  name: string
  conditions: readonly Condition[]
  actions: readonly Action[]
}

type AliasLookup = (addresses: string[]) => Promise<{ source: string; destinations: string[] }[]>

/** Only literal recipients count: a loop through a pattern is found when mail arrives. */
const sourcesOf = ({ conditions }: ForwardingRule): string[] =>
  conditions
    .filter(({ field, operator }) => field === 'recipient' && operator === 'equals')
    .map(({ value }) => value.trim().toLowerCase())

export const targetsOf = ({ actions }: ForwardingRule): string[] =>
  actions.flatMap((action) =>
    action.type === 'redirect' || action.type === 'bcc' ? [action.params.address] : [],
  )

/** The path on which rules and aliases of the organization would return mail to its first recipient. */
export async function findLoop(
  rule: ForwardingRule,
  others: readonly ForwardingRule[],
  aliases: AliasLookup,
): Promise<string[] | undefined> {
  for (const source of sourcesOf(rule)) {
    const path = await pathBetween(targetsOf(rule), source, others, aliases)
    if (path) return [source, ...path]
  }
  return undefined
}

/** Breadth-first search over aliases and rules. */
async function pathBetween(
  from: string[],
  to: string,
  rules: readonly ForwardingRule[],
  aliases: AliasLookup,
): Promise<string[] | undefined> {
  const cameFrom = new Map<string, string | undefined>(from.map((address) => [address, undefined]))
  let level = from
  for (let steps = 0; level.length > 0 && steps < MAX_STEPS; steps++) {
    if (cameFrom.has(to)) return pathTo(to, cameFrom)
    const next: string[] = []
    const visit = (source: string, target: string) => {
      if (cameFrom.has(target) || cameFrom.size > MAX_VISITED) return
      cameFrom.set(target, source)
      next.push(target)
    }
    for (const { source, destinations } of await aliases(level)) {
      for (const target of destinations) visit(source, target)
    }
    const reached = new Set(level)
    for (const rule of rules) {
      const sources = sourcesOf(rule).filter((source) => reached.has(source))
      for (const source of sources) for (const target of targetsOf(rule)) visit(source, target)
    }
    level = next
  }
  return undefined
}

function pathTo(end: string, cameFrom: ReadonlyMap<string, string | undefined>): string[] {
  const path: string[] = []
  for (let step: string | undefined = end; step !== undefined; step = cameFrom.get(step)) {
    path.unshift(step)
  }
  return path
}
