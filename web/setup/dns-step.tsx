import { useQuery } from '../lib/query.ts'
import { DnsRecords } from '../ui/dns-records.tsx'
import { Failed } from '../ui/failed.tsx'
import { tenant } from './clients.ts'
import { t } from './words.ts'

/** Shows what to publish, and what is published now. */
export function DnsStep({ domain, onDone }: { domain: string; onDone(): void }) {
  const api = tenant
  const { data, error, again } = useQuery('first domain', async () => {
    const { items } = await api.get('/domains/', { query: { q: domain } })
    const own = items.find((one) => one.domain === domain)
    return own && api.get('/domains/{domain_id}', { params: { domain_id: own.id } })
  })
  return (
    <>
      <h1>{t.dnsTitle(domain)}</h1>
      <p class="muted">{t.dnsHint}</p>
      <Failed error={error} again={again} />
      {data && <DnsRecords api={api} domain={data} checkFirst />}
      <div class="stack">
        <footer>
          <button type="button" class="primary" onClick={onDone}>
            {t.next}
          </button>
        </footer>
      </div>
    </>
  )
}
