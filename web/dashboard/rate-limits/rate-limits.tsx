import { useQuery } from '../../lib/query.ts'
import { useQueryState } from '../../lib/router.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Card, Empty, Heading } from '../../ui/page.tsx'
import { api } from '../api.ts'
import { Limits } from './limits.tsx'
import { t } from './words.ts'

/** The limits of one domain; the address has its name. */
export function RateLimits() {
  const [{ domain: asked }, change] = useQueryState('domain')
  const domains = useQuery('domains choice', () =>
    api.get('/domains/', { query: { per_page: 200 } }),
  )
  const items = domains.data?.items
  const domain = asked || items?.[0]?.domain
  return (
    <>
      <Heading title={t.title}>
        {items && items.length > 0 && (
          <select
            aria-label={t.domain}
            value={domain}
            onChange={(event) => change({ domain: event.currentTarget.value })}
          >
            {items.map((one) => (
              <option key={one.domain} value={one.domain}>
                {one.domain_unicode}
              </option>
            ))}
          </select>
        )}
      </Heading>
      <Failed error={domains.error} again={domains.again} />
      {items?.length === 0 && (
        <Card flush>
          <Empty
            title={t.none}
            action={
              <a class="button" href="/app/domains">
                {t.toDomains}
              </a>
            }
          >
            {t.noneHint}
          </Empty>
        </Card>
      )}
      {domain && <Limits key={domain} of={{ type: 'domain', name: domain }} />}
    </>
  )
}
