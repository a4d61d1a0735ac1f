import type { DnsChange } from '../../api/schema.ts'
import { useQuery } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { Badge, Card, Time, type Tone } from '../../ui/page.tsx'
import { api } from '../api.ts'
import { t } from './dns-history.words.ts'

const CHECKS = ['mx', 'spf', 'dkim', 'dmarc', 'ownership'] as const
const TONES: Record<DnsChange['mx'], Tone> = {
  pass: 'good',
  missing: 'bad',
  different: 'bad',
  unknown: '',
}
/** One more is read, which the last one is compared with. */
const SHOWN = 20

/** The changes in the DNS of a domain, newest first. */
export function DnsHistory({ domainId }: { domainId: string }) {
  const { data, error, again } = useQuery(`dns-checks ${domainId}`, () =>
    api.get('/domains/{domain_id}/dns-checks', {
      params: { domain_id: domainId },
      query: { per_page: SHOWN + 1 },
    }),
  )
  const items = data?.items ?? []
  const entries = items.map((one, index) => (
    <Entry key={one.first_seen_at} now={one} before={items[index + 1]} />
  ))
  return (
    <Card title={t.title}>
      <Failed error={error} again={again} />
      {data && (
        <p class="hint">
          {items[0] ? (
            <>
              {t.looked} <Time iso={items[0].last_seen_at} />. {t.every}
            </>
          ) : (
            t.none
          )}
        </p>
      )}
      {items.length > 0 && <ol class="history">{entries.slice(0, SHOWN)}</ol>}
    </Card>
  )
}

/** One change; the oldest entry says how it was at first. */
function Entry({ now, before }: { now: DnsChange; before: DnsChange | undefined }) {
  const changed = before && CHECKS.filter((name) => now[name] !== before[name])
  return (
    <li>
      <Time iso={now.first_seen_at} />{' '}
      {changed
        ? changed.map((name) => (
            <Badge key={name} tone={TONES[now[name]]}>
              {t.became[now[name]](t.checks[name])}
            </Badge>
          ))
        : firstResult(now)}
    </li>
  )
}

function firstResult(check: DnsChange): string {
  const failing = CHECKS.filter((name) => check[name] !== 'pass')
  return failing.length === 0
    ? t.firstAllPass
    : t.first(failing.map((name) => t.checks[name]).join(', '))
}
