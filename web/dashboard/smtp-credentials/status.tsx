import type { SmtpCredential } from '../../api/schema.ts'
import { Badge } from '../../ui/page.tsx'
import { t } from './words.ts'

export function Status({ active, expires_at }: Pick<SmtpCredential, 'active' | 'expires_at'>) {
  if (!active) return <Badge tone="bad">{t.revoked}</Badge>
  if (expires_at && new Date(expires_at) < new Date()) return <Badge tone="warn">{t.expired}</Badge>
  return <Badge tone="good">{t.active}</Badge>
}
