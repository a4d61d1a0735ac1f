import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { findActive } from '../dkim/dkim.repository.ts'
import { DomainNotFound } from '../domains.errors.ts'
import { DomainVerified } from '../domains.events.ts'
import * as domains from '../domains.repository.ts'
import { checkDns } from './dns-check.ts'

type Needs = Pick<Core, 'change' | 'config' | 'db' | 'events' | 'now' | 'withDns'>

export type VerifyDnsService = ReturnType<typeof verifyDnsService>

export function verifyDnsService({ change, config, db, events, now, withDns }: Needs) {
  const markVerified = (caller: Caller, id: string) =>
    change(caller, async (tx) => {
      const row = await domains.lock(tx, caller.scope, id)
      if (!row || row.verified_at !== null) return row?.verified_at ?? null
      const { verified_at } = await domains.update(
        tx,
        id,
        { verified_at: now().toISOString() },
        now(),
      )
      const { domain, organization_id } = row
      await events.emit(
        tx,
        DomainVerified,
        { org_id: organization_id, domain },
        { domain_id: id, domain, organization_id },
      )
      return verified_at
    })

  return {
    /** The first time that all four pass, the domain counts as verified from then on. */
    async verify(caller: Caller, id: string) {
      const row = await domains.find(db, caller.scope, id)
      if (!row) throw new DomainNotFound()
      const key = await findActive(db, id)
      const verification = await withDns((dns) =>
        checkDns(
          {
            domain: row.domain,
            mailHost: config.SVC_MAIL_HOSTNAME,
            dkimEnabled: row.dkim_enabled,
            dkimKey: key,
            dkimSelector: key?.selector ?? row.dkim_selector,
          },
          dns,
        ),
      )
      const passes = Object.values(verification).every(({ status }) => status === 'pass')
      const verified_at = passes ? await markVerified(caller, id) : row.verified_at
      return { domain: row.domain, verified: passes, verified_at, verification }
    },
  }
}
