import type { ComponentChildren } from 'preact'
import type { OrganizationNotice, OrganizationOverview } from '../../api/schema.ts'
import { percent } from '../../lib/format.ts'
import { useCapability } from '../../lib/may.ts'
import { visible } from '../../lib/visible.ts'
import { Icon } from '../../ui/icon.tsx'
import { alert } from '../../ui/icons.ts'
import { Card, Empty, Time } from '../../ui/page.tsx'
import { t } from './words.ts'

/** Providers begin to refuse the mail of a sender at about this share of bounces. */
const MOST_BOUNCES = 0.05
/** A share of fewer messages says nothing. */
const FEWEST_SENT = 50

const PLACES: Record<OrganizationNotice['kind'], (id: string) => string> = {
  domain_unproven: (id) => `/app/domains/${id}`,
  domain_unverified: (id) => `/app/domains/${id}`,
  storage_full: () => '/app/mailboxes?sort=storage_used&dir=desc',
  mailbox_full: (id) => `/app/mailboxes/${id}`,
  webhook_failing: (id) => `/app/webhooks/${id}`,
  credential_expiring: (id) => `/app/smtp-credentials/${id}`,
  api_key_expiring: () => '/app/api-keys',
}

interface Line {
  key: string
  text: string
  more?: ComponentChildren
  to: string | undefined
  action: string
}

/** Things that need attention, the most urgent first. */
export function useNotices(overview: OrganizationOverview | undefined): Line[] {
  const hasKeys = useCapability('self_service_keys')
  if (!overview) return []
  const { attention, suspended_mailboxes, totals } = overview
  const lines = attention.map((notice) => lineOf(notice, hasKeys))
  const share = totals.sent < FEWEST_SENT ? 0 : totals.bounced / totals.sent
  if (share > MOST_BOUNCES) {
    lines.unshift({
      key: 'bouncing',
      text: t.bouncing(share),
      to: '/app/messages?status=bounced&direction=outbound',
      action: t.show,
    })
  }
  if (suspended_mailboxes > 0) {
    lines.push({
      key: 'suspended',
      text: t.suspended(suspended_mailboxes),
      to: '/app/mailboxes?status=suspended',
      action: t.show,
    })
  }
  return lines
}

function lineOf(notice: OrganizationNotice, hasKeys: boolean): Line {
  const { kind, id, name, used_percent, expires_at } = notice
  const used = used_percent === null ? '' : percent(used_percent / 100)
  return {
    key: kind + id,
    text: t.notices[kind](visible(name), used),
    more: expires_at && <Time iso={expires_at} />,
    to: kind === 'api_key_expiring' && !hasKeys ? undefined : PLACES[kind](id),
    action: kind.startsWith('domain_') ? t.checkDns : t.show,
  }
}

export const Notices = ({ lines }: { lines: readonly Line[] }) => (
  <Card title={t.attention} flush>
    {lines.length === 0 ? (
      <Empty title={t.allWell}>{t.allWellHint}</Empty>
    ) : (
      <ul class="notices">
        {lines.map(({ key, text, more, to, action }) => (
          <li key={key}>
            <Icon path={alert} />
            <span>
              {text} {more}
            </span>
            {to && (
              <a class="button small" href={to}>
                {action}
                <span class="hidden"> {text}</span>
              </a>
            )}
          </li>
        ))}
      </ul>
    )}
  </Card>
)
