import { blockedSenders } from './blocked-senders.ts'
import { forwarding } from './forwarding.ts'
import { rules } from './rules.ts'
import { lines, quoted, required } from './text.ts'
import { vacation } from './vacation.ts'

export const MAIN = 'svc-main'

/** The four components of the mailbox owner, with their default scripts. */
export const COMPONENTS: ReadonlyMap<string, string> = new Map([
  [blockedSenders.name, blockedSenders.write(blockedSenders.none)],
  [rules.name, rules.write(rules.none)],
  [forwarding.name, forwarding.write(forwarding.none)],
  [vacation.name, vacation.write(vacation.none, '')],
])

const include = (name: string) => `include :personal :optional ${quoted(name)};`

/**
 * The active script, which only includes the others. The filter of the tenant runs after the block list,
 * so that blocked senders stay blocked.
 */
export function mainScript(filter: string | undefined): string {
  const [blocked = '', ...others] = [...COMPONENTS.keys()]
  return lines(
    required(['include']),
    include(blocked),
    filter === undefined ? [] : [include(filter)],
    others.map(include),
  )
}

/** Returns the filter of the tenant that a main script includes; a foreign script has none. */
export const filterOf = (script: string): string | undefined =>
  [...script.matchAll(/^include :personal :optional "([\w-]+)";/gm)]
    .map(([, name = '']) => name)
    .find((name) => !COMPONENTS.has(name))

/** Names of scripts that only the API of the mailbox owner writes. */
export const isReserved = (name: string): boolean => /^svc-/i.test(name)
