import { Badge } from '../../ui/page.tsx'
import { t } from './words.ts'

const TONES = { low: '', medium: 'info', high: 'warn', critical: 'bad' } as const
type Known = keyof typeof TONES

export const Severity = ({ value }: { value: string }) => (
  <Badge tone={TONES[value as Known] ?? ''}>{t.severities[value as Known] ?? value}</Badge>
)
