import { Time } from '../../ui/page.tsx'
import { t } from './words.ts'

interface Props {
  last_used_at: string | null
  last_used_service: string | null
  last_used_ip: string | null
}

/** The time of the last login of a program, with protocol and IP address as a hint. */
export const LastUse = ({ last_used_at, last_used_service, last_used_ip }: Props) =>
  last_used_at === null ? (
    <span class="muted">{t.never}</span>
  ) : (
    <span title={t.lastUse(last_used_service ?? '', last_used_ip ?? '')}>
      <Time iso={last_used_at} />
    </span>
  )
