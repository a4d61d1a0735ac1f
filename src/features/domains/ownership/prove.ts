import type { Core } from '../../../core.ts'
import type { Tx } from '../../../database/database.ts'
import { removeWithContents } from '../domain-contents.ts'
import { DomainAlreadyClaimed, DomainReserved, OperatorMustApprove } from '../domains.errors.ts'
import { ClaimEnded, eventData, eventSubject, OwnershipVerified } from '../domains.events.ts'
import * as domains from '../domains.repository.ts'
import * as claims from './ownership.repository.ts'
import { isNameOfHost } from './ownership.rules.ts'

/** dns: the record was found. operator: an operator vouches. setting: SVC_DOMAIN_OWNERSHIP=off. */
export type Method = 'dns' | 'operator' | 'setting'

export type ProofNeeds = Pick<Core, 'config' | 'events' | 'now'>

const HOST = { actor: 'host', source_ip: '' }

/**
 * Makes the organization of a pending claim the owner of its name and ends the other claims on it.
 * Returns undefined when the claim no longer exists; throws when this method does not suffice.
 */
export async function prove(
  { config, events, now }: ProofNeeds,
  tx: Tx,
  claim: { id: string; domain: string },
  method: Method,
): Promise<domains.DomainRow | undefined> {
  await claims.lockName(tx, claim.domain)
  const row = await domains.lock(tx, 'platform', claim.id)
  if (!row || row.ownership_verified_at !== null) return row
  if (isNameOfHost(row.domain, config.SVC_MAIL_HOSTNAME)) throw new DomainReserved(row.domain)
  if (method === 'dns' && (await needsOperator(tx, row))) throw new OperatorMustApprove(row.domain)
  if (await claims.findProven(tx, row.domain)) {
    throw new DomainAlreadyClaimed({ domain: row.domain })
  }
  for (const other of await claims.claimsOn(tx, row.domain)) {
    if (other.id !== row.id) await endClaim(events, tx, other, 'proven_by_other', now())
  }
  const at = now()
  const proven = await domains.update(tx, row.id, { ownership_verified_at: at.toISOString() }, at)
  await events.emit(tx, OwnershipVerified, eventSubject(row), { ...eventData(row), method })
  return proven
}

/** A record in DNS does not suffice for names that could take mail from operators or other tenants. */
export const needsOperator = async (
  tx: Tx,
  row: { domain: string; organization_id: string },
): Promise<boolean> =>
  (await claims.isOperatorsDomain(tx, row.domain)) || (await claims.isRelatedToOther(tx, row))

/** Deletes a pending claim with everything prepared under it. Its logins never worked. */
export async function endClaim(
  events: Core['events'],
  tx: Tx,
  row: claims.Claim,
  reason: 'lapsed' | 'proven_by_other',
  now: Date,
): Promise<void> {
  const { counts } = await removeWithContents(tx, HOST, row.id, now)
  await events.emit(tx, ClaimEnded, eventSubject(row), { ...eventData(row), reason, ...counts })
}
