import type { EmailAccount } from '../../api/schema.ts'
import { Badge } from '../../ui/page.tsx'
import { t } from './words.ts'

const TONES = { active: 'good', inactive: '', suspended: 'bad' } as const

export const Status = ({ status }: Pick<EmailAccount, 'status'>) => (
  <Badge tone={TONES[status]}>{t[status]}</Badge>
)
