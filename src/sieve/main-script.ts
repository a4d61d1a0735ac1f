import { blockedSenders } from './blocked-senders.ts'
import { forwarding } from './forwarding.ts'
import { rules } from './rules.ts'
import { lines, quoted, required } from './text.ts'
import { vacation } from './vacation.ts'

export const MAIN = 'svc-main'
/** The tenant's own responder; the holder's is `svc-vacation`. */
export const TENANT_VACATION = 'vacation'

/** The holder's four components with what they hold while nothing is set. */
export const COMPONENTS: ReadonlyMap<string, string> = new Map([
  [blockedSenders.name, blockedSenders.write(blockedSenders.none)],
  [rules.name, rules.write(rules.none)],
  [forwarding.name, forwarding.write(forwarding.none)],
  [vacation.name, vacation.write(vacation.none, '')],
])

/** What the tenant has put beside the holder's components. */
export interface Additions {
  /** Runs after the block list: not even a tenant gets mail from somebody whom the holder blocked. */
  filter: string | undefined
  vacation: boolean
}

const include = (name: string) => `include :personal :optional ${quoted(name)};`

/** The one script that is active: it runs the others and does nothing itself. */
export function mainScript({ filter, vacation: responds }: Additions): string {
  const [blocked = '', ...others] = [...COMPONENTS.keys()]
  return lines(
    required(['include']),
    include(blocked),
    filter === undefined ? [] : [include(filter)],
    others.map(include),
    responds ? [include(TENANT_VACATION)] : [],
  )
}

/** Reads a main script back; one that somebody else wrote adds nothing. */
export function additionsOf(script: string): Additions {
  const names = [...script.matchAll(/^include :personal :optional "([\w-]+)";/gm)]
    .map(([, name = '']) => name)
    .filter((name) => !COMPONENTS.has(name))
  return {
    filter: names.find((name) => name !== TENANT_VACATION),
    vacation: names.includes(TENANT_VACATION),
  }
}

/** Names that only the mailbox's own pages write. */
export const isReserved = (name: string): boolean => /^svc-/i.test(name)
