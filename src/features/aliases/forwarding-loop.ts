/** An alias on the path of a message. */
export interface Hop {
  source: string
  organization_id: string
  destinations: string[]
}

/** Maps addresses to the active alias that takes their mail; others are absent. */
export type Route = (addresses: string[]) => Promise<Map<string, Hop>>

export interface Loop {
  path: string[]
  /** The organizations that own the aliases on the path. */
  organizations: string[]
}

// Postfix gives up on a recipient that expands to more than 1000 addresses. The walk runs under a
// lock, so its length is bounded too.
const MAX_ADDRESSES = 1000
const MAX_HOPS = 30

interface Step {
  address: string
  by: Hop
  from: Step | undefined
}

/**
 * Follows mail for one address, breadth first, until every copy is delivered or one comes back to
 * the start.
 */
export async function findLoop(
  source: string,
  route: Route,
): Promise<Loop | 'too far' | undefined> {
  const first = (await route([source])).get(source)
  const seen = new Set<string>()
  let level: Step[] = first ? [{ address: source, by: first, from: undefined }] : []
  for (let hops = 0; level.length > 0; hops++) {
    if (hops === MAX_HOPS) return 'too far'
    const next = new Map<string, Step>()
    for (const step of level) {
      for (const address of step.by.destinations) {
        if (address === source) return loopOf(step, source)
        if (!seen.has(address)) next.set(address, step)
        seen.add(address)
      }
    }
    if (seen.size > MAX_ADDRESSES) return 'too far'
    level = []
    for (const [address, by] of await route([...next.keys()])) {
      const step = { address, by, from: next.get(address) }
      if (by.source === first?.source) return loopOf(step, undefined)
      level.push(step)
    }
  }
  return undefined
}

function loopOf(last: Step, end: string | undefined): Loop {
  const path = end === undefined ? [] : [end]
  const organizations = new Set<string>()
  for (let step: Step | undefined = last; step; step = step.from) {
    organizations.add(step.by.organization_id)
    // For a catch-all the path names the address and the catch-all.
    if (step.by.source !== step.address) path.unshift(step.by.source)
    path.unshift(step.address)
  }
  return { path, organizations: [...organizations] }
}

/** The keys that Postfix looks up, in order: the address, without +detail, the catch-all. */
export function lookups(address: string): string[] {
  const at = address.lastIndexOf('@')
  const catchAll = address.slice(at)
  if (at === 0) return [catchAll]
  const plus = address.indexOf('+')
  const plain = plus > 0 && plus < at ? [address.slice(0, plus) + catchAll] : []
  return [address, ...plain, catchAll]
}
