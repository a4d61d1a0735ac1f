import type { Caller, Scope } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { ApiError } from '../../../errors.ts'
import { findActive } from '../dkim/dkim.repository.ts'
import { recordCheck } from '../dns-history/record-check.ts'
import { compareAll } from '../dns-records/compare-all.ts'
import { publicationOf } from '../dns-records/publication.ts'
import { dnsRecords } from '../dns-records.ts'
import { DomainNotFound } from '../domains.errors.ts'
import { DomainVerified, eventData, eventSubject } from '../domains.events.ts'
import * as domains from '../domains.repository.ts'
import { tokenOf } from '../ownership/ownership.repository.ts'
import { checkOwnership, provenCheck } from '../ownership/ownership-check.ts'
import { prove } from '../ownership/prove.ts'
import { type Check, checkDns } from './dns-check.ts'

type Needs = Pick<Core, 'change' | 'config' | 'db' | 'events' | 'now' | 'withDns'>

export type VerifyDnsService = ReturnType<typeof verifyDnsService>

export const verifyDnsService = (needs: Needs) => ({
  /**
   * The ownership is proven when its record is found, and stays so. The domain becomes verified when
   * all four records pass too for the first time, and stays so.
   */
  async verify(caller: Caller, id: string) {
    const row = await domains.find(needs.db, caller.scope, id)
    if (!row) throw new DomainNotFound()
    const checks = await look(needs, row)
    const { ownership, ownership_verified_at } = await proofBy(needs, caller, row, checks.ownership)
    const verification = { ...checks, ownership }
    const passes = allPass(verification)
    const verified_at = passes
      ? await needs.change(caller, (tx) => markVerified(needs, tx, caller.scope, id))
      : row.verified_at
    await recordCheck(needs, id, verification)
    const records = dnsRecords(await publicationOf(needs, row))
    return {
      domain: row.domain,
      verified: passes,
      verified_at,
      ownership_verified_at,
      verification,
      records: await compareAll(needs, records, Object.values(verification)),
    }
  },
})

/** Looks up all records of a domain. */
export async function look(
  { config, db, withDns }: Pick<Needs, 'config' | 'db' | 'withDns'>,
  row: domains.DomainRow,
) {
  const key = await findActive(db, row.id)
  const token = await tokenOf(db, row.organization_id)
  return withDns(async (dns) => {
    const [records, ownership] = await Promise.all([
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
      row.ownership_verified_at === null
        ? checkOwnership(row.domain, token, dns)
        : provenCheck(row.domain, token),
    ])
    return { ...records, ownership }
  })
}

/** Turns a found record into the proof; the check fails when the record does not suffice. */
async function proofBy(needs: Needs, caller: Caller, row: domains.DomainRow, ownership: Check) {
  const before = { ownership, ownership_verified_at: row.ownership_verified_at }
  if (row.ownership_verified_at !== null || ownership.status !== 'pass') return before
  try {
    const proven = await needs.change(caller, (tx) => prove(needs, tx, row, 'dns'))
    if (!proven) throw new DomainNotFound()
    return { ownership, ownership_verified_at: proven.ownership_verified_at }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
    return {
      ...before,
      ownership: { ...ownership, status: 'fail' as const, message: error.message },
    }
  }
}

export const allPass = (verification: Record<string, Check>): boolean =>
  Object.values(verification).every(({ status }) => status === 'pass')

/** Returns when the domain was verified; an earlier time stays. */
export async function markVerified(
  { events, now }: Pick<Needs, 'events' | 'now'>,
  tx: Tx,
  scope: Scope,
  id: string,
) {
  const row = await domains.lock(tx, scope, id)
  if (!row || row.verified_at !== null) return row?.verified_at ?? null
  const { verified_at } = await domains.update(tx, id, { verified_at: now().toISOString() }, now())
  await events.emit(tx, DomainVerified, eventSubject(row), eventData(row))
  return verified_at
}
