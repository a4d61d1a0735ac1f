/** Counts of a period. */
export interface Counts {
  sent: number
  delivered: number
  bounced: number
  complained: number
  opened: number
  clicked: number
}

type Rating = 'excellent' | 'good' | 'fair' | 'poor'

// Shares at which a domain loses all points of that kind.
const WORST_BOUNCE_RATE = 0.1
const WORST_COMPLAINT_RATE = 0.005
const BOUNCE_POINTS = 40
const COMPLAINT_POINTS = 50
// Shares that good newsletters reach.
const GOOD_OPEN_RATE = 0.4
const GOOD_CLICK_RATE = 0.1
const UNKNOWN = 50

export function ratesOf({ sent, bounced, complained }: Counts) {
  // Complaints may come about mail of an earlier period.
  const whole = Math.max(sent, bounced, complained)
  const rate = (part: number) => (whole === 0 ? 0 : part / whole)
  return { bounce_rate: rate(bounced), complaint_rate: rate(complained) }
}

/** 100, less up to 40 for bounces and up to 50 for complaints. */
export function overallScore(counts: Counts): number {
  const { bounce_rate, complaint_rate } = ratesOf(counts)
  const lost =
    BOUNCE_POINTS * Math.min(1, bounce_rate / WORST_BOUNCE_RATE) +
    COMPLAINT_POINTS * Math.min(1, complaint_rate / WORST_COMPLAINT_RATE)
  return rounded(100 - lost)
}

/** The share of finished messages that were delivered. */
export function deliverabilityScore({ delivered, bounced }: Counts): number {
  const ended = delivered + bounced
  return ended === 0 ? UNKNOWN : rounded((100 * delivered) / ended)
}

/** Half for opens, half for clicks; null when there were neither. */
export function engagementScore({ delivered, opened, clicked }: Counts): number {
  if (delivered === 0 || opened + clicked === 0) return UNKNOWN
  const half = (seen: number, good: number) => 50 * Math.min(1, seen / delivered / good)
  return rounded(half(opened, GOOD_OPEN_RATE) + half(clicked, GOOD_CLICK_RATE))
}

export const ratingOf = (score: number): Rating =>
  score >= 90 ? 'excellent' : score >= 70 ? 'good' : score >= 50 ? 'fair' : 'poor'

const rounded = (value: number): number => Math.round(value * 100) / 100
