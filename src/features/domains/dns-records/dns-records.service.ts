import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { certificatesOfHost } from '../../../hosting/host-certificate.repository.ts'
import { dnsRecords, tlsaRecords } from '../dns-records.ts'
import { DomainNotFound } from '../domains.errors.ts'
import * as domains from '../domains.repository.ts'
import { look } from '../verify-dns/verify-dns.service.ts'
import { compareAll } from './compare-all.ts'
import { publicationOf } from './publication.ts'
import { zoneFile } from './zone-file.ts'

type Needs = Pick<Core, 'config' | 'db' | 'now' | 'withDns'>

export type DnsRecordsService = ReturnType<typeof dnsRecordsService>

export const dnsRecordsService = (needs: Needs) => ({
  /** Everything to publish; with `check`, what DNS has of it now. */
  async get(caller: Caller, id: string, check: boolean) {
    const { config, db, now } = needs
    const row = await domains.find(db, caller.scope, id)
    if (!row) throw new DomainNotFound()
    const records = dnsRecords(await publicationOf(needs, row))
    const all = [...records, ...tlsaRecords(config.SVC_MAIL_HOSTNAME, await hostKeys(needs))]
    const shown = check ? await compareAll(needs, all, Object.values(await look(needs, row))) : all
    return {
      domain: row.domain,
      mail_host: config.SVC_MAIL_HOSTNAME,
      records: shown.slice(0, records.length),
      host_records: shown.slice(records.length),
      zone_file: zoneFile(row.domain, records),
      checked_at: check ? now().toISOString() : null,
    }
  },
})

/** The present key of the mail host and the one that follows it. */
async function hostKeys({ config, db }: Needs): Promise<string[]> {
  const [presented] = await certificatesOfHost(db, config.SVC_MAIL_HOSTNAME)
  return [presented?.key_hash, presented?.next_key_hash].filter((hash) => typeof hash === 'string')
}
