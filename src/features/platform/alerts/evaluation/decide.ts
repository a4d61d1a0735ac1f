import { type Comparator, isBreach } from '../alert-metrics.ts'

interface Rule {
  comparator: Comparator
  threshold: number
  for_seconds: number
  breach_began_at: string | null
  last_notified_at: string | null
  open_id: number | null
  open_notified_at: string | null
}

export interface Decision {
  /** Since when the condition has held without a break; null while it does not. */
  breachBegan: Date | null
  fire: boolean
  resolve: boolean
  /** Whether the channels are told of firing now. */
  tell: boolean
}

/**
 * What a value means for a rule. Time is measured between stored times, not counted in evaluations: one
 * that was missed changes nothing.
 */
export function decide(rule: Rule, value: number, now: Date, cooldownSeconds: number): Decision {
  const isOpen = rule.open_id !== null
  if (!isBreach(value, rule.comparator, rule.threshold)) {
    return { breachBegan: null, fire: false, resolve: isOpen, tell: false }
  }
  const breachBegan = rule.breach_began_at === null ? now : new Date(rule.breach_began_at)
  const fire = !isOpen && now.getTime() - breachBegan.getTime() >= rule.for_seconds * 1000
  const isUntold = fire || (isOpen && rule.open_notified_at === null)
  const isRested =
    rule.last_notified_at === null ||
    now.getTime() - new Date(rule.last_notified_at).getTime() >= cooldownSeconds * 1000
  return { breachBegan, fire, resolve: false, tell: isUntold && isRested }
}
