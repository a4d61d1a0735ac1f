import { number } from '../../lib/format.ts'
import { Badge } from '../../ui/page.tsx'

const GOOD = 80
const POOR = 50

const toneOf = (score: number) => (score >= GOOD ? 'good' : score >= POOR ? 'warn' : 'bad')

/** A score of 0 to 100; providers accept mail of a high one. */
export const Score = ({ value }: { value: number }) => (
  <Badge tone={toneOf(value)}>{number(Math.round(value))}</Badge>
)
