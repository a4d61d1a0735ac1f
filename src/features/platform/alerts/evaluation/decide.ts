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
  /** Start of the uninterrupted breach; null while the condition does not hold. */
  breachBegan: Date | null
  fire: boolean
  resolve: boolean
  /** True if the channels are to be notified that the rule fires. */
  notify: boolean
}

/**
 * Decides what a value changes for a rule. Durations are computed from stored times, so a missed
 * evaluation does not delay an alert.
 */
export function decide(rule: Rule, value: number, now: Date, cooldownSeconds: number): Decision {
  const isOpen = rule.open_id !== null
  if (!isBreach(value, rule.comparator, rule.threshold)) {
    return { breachBegan: null, fire: false, resolve: isOpen, notify: false }
  }
  const breachBegan = rule.breach_began_at === null ? now : new Date(rule.breach_began_at)
  const fire = !isOpen && now.getTime() - breachBegan.getTime() >= rule.for_seconds * 1000
  const isNotificationDue = fire || (isOpen && rule.open_notified_at === null)
  const isCooldownOver =
    rule.last_notified_at === null ||
    now.getTime() - new Date(rule.last_notified_at).getTime() >= cooldownSeconds * 1000
  return { breachBegan, fire, resolve: false, notify: isNotificationDue && isCooldownOver }
}
