import type { MessageTexts } from '../../../mime/texts.ts'
import type { PolicyRow } from './policies.repository.ts'
import type { Match } from './scanning.ts'
import type { PolicyAction } from './vocabulary.ts'

/** A violated policy. Without a match, the message could not be fully examined. */
export interface Finding {
  policy: PolicyRow
  match: Match | undefined
}

export interface Verdict {
  action: PolicyAction
  /** The policy that decided. */
  by: PolicyRow
}

const STRENGTH: readonly PolicyAction[] = ['log_only', 'notify', 'quarantine', 'encrypt', 'block']

/** The strongest action wins. */
export function verdictOf(findings: readonly Finding[]): Verdict | undefined {
  const [first, ...rest] = findings.map(({ policy }) => policy)
  if (!first) return undefined
  const by = rest.reduce(
    (best, policy) =>
      STRENGTH.indexOf(policy.action) > STRENGTH.indexOf(best.action) ? policy : best,
    first,
  )
  return { action: by.action, by }
}

/** The action recorded for a policy: notify and log_only are its own, others are the verdict's. */
export const actionTaken = ({ policy }: Finding, verdict: Verdict): PolicyAction =>
  policy.action === 'notify' || policy.action === 'log_only' ? policy.action : verdict.action

/** The SMTP reply to the sender, which must be ASCII. */
export function refusalOf({ action, by }: Verdict, unread: MessageTexts['unread']): string {
  const name = by.name.replace(/[^\x20-\x7e]+/g, '?')
  if (action === 'encrypt') {
    return `Policy "${name}": encrypt this message with S/MIME or OpenPGP and send it again`
  }
  if (unread !== undefined) {
    return `Policy "${name}": the message could not be examined (${unread})`
  }
  return `Policy "${name}": the message holds data that must not be sent`
}
