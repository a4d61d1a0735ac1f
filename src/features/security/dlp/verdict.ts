import type { Contents } from '../../../content/texts.ts'
import type { CompiledPolicy, Match } from './scanning.ts'
import type { PolicyAction } from './vocabulary.ts'

/** A policy and what violated it; without a match the message could not be examined. */
export interface Finding {
  policy: CompiledPolicy
  match: Match | undefined
}

export interface Verdict {
  action: PolicyAction
  /** The policy that decided. */
  by: CompiledPolicy
}

const STRENGTH: readonly PolicyAction[] = ['log_only', 'notify', 'quarantine', 'encrypt', 'block']

/** The strongest action counts; the others have nothing left to act on. */
export function verdictOf(findings: readonly Finding[]): Verdict | undefined {
  const [first, ...rest] = findings.map(({ policy }) => policy)
  if (!first) return undefined
  const by = rest.reduce(
    (best, one) => (STRENGTH.indexOf(one.action) > STRENGTH.indexOf(best.action) ? one : best),
    first,
  )
  return { action: by.action, by }
}

/** What was done because of one policy: what it asks for, or what a stronger one did. */
export const takenFor = ({ policy }: Finding, verdict: Verdict): PolicyAction =>
  policy.action === 'notify' || policy.action === 'log_only' ? policy.action : verdict.action

/** What a sender is told. Replies of mail servers are ASCII. */
export function refusalOf({ action, by }: Verdict, unread: Contents['unread']): string {
  const name = by.name.replace(/[^\x20-\x7e]+/g, '?')
  if (action === 'encrypt') {
    return `Policy "${name}": encrypt this message with S/MIME or OpenPGP and send it again`
  }
  if (unread !== undefined) {
    return `Policy "${name}": the message could not be examined (${unread})`
  }
  return `Policy "${name}": the message holds data that must not be sent`
}
