import { Limits } from '../rate-limits/limits.tsx'
import { Frame } from './frame.tsx'
import { t } from './words.ts'

export const MailboxLimits = () => (
  <Frame part={t.limits}>{({ email }) => <Limits of={{ type: 'mailbox', name: email }} />}</Frame>
)
