import type { App } from '../../support/app.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>

/** DKIM keys of the first domain: one signs, one waits for its record. Its SPF record went missing. */
export async function seedDomain(app: App, { domainId }: Tenant): Promise<void> {
  const operator = await app.operator('operator')
  const path = `/api/v1/domains/${domainId}/dkim`
  const { body } = await operator.post(`${path}/rotate`, { reason: 'first key' })
  const activated = await operator.post(body.data.activate_url, { reason: 'seed', force: true })
  const waiting = await operator.post(`${path}/rotate`, { reason: 'second key' })
  const day = 24 * 60 * 60 * 1000
  const ago = (days: number) => new Date(app.clock.now().getTime() - days * day).toISOString()
  const fine = { mx: 'pass', dmarc: 'pass', ownership: 'pass' } as const
  await app.core.db.transaction().execute(async (tx) => {
    // The job that looks at DNS records may have come to this domain.
    await tx.selectFrom('domains').select('id').where('id', '=', domainId).forUpdate().execute()
    await tx.deleteFrom('dns_checks').where('domain_id', '=', domainId).execute()
    await tx
      .insertInto('dns_checks')
      .values(
        [
          {
            id: 'dns1',
            spf: 'missing' as const,
            dkim: 'missing' as const,
            first_seen_at: ago(40),
            last_seen_at: ago(39),
          },
          {
            id: 'dns2',
            spf: 'pass' as const,
            dkim: 'pass' as const,
            first_seen_at: ago(38),
            last_seen_at: ago(4),
          },
          {
            id: 'dns3',
            spf: 'missing' as const,
            dkim: 'pass' as const,
            first_seen_at: ago(3),
            last_seen_at: ago(0),
          },
        ].map((row) => ({ ...row, ...fine, domain_id: domainId, current: row.id === 'dns3' })),
      )
      .execute()
  })
  if (activated.status !== 200 || waiting.status !== 201) throw new Error(activated.text)
}
