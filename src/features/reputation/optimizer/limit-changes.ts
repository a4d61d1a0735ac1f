import type { Db, Tx } from '../../../database/database.ts'
import { toDomainName } from '../../../lib/domain-name.ts'
import { type IspLimit, limitFor, OTHERS } from './isp-limits.ts'
import * as limits from './limits.repository.ts'
import { NotADomain } from './optimizer.errors.ts'

export const limitOf = async (db: Db, domain: string): Promise<IspLimit> =>
  limitFor(domain, await limits.limitsOf(db, limits.namesFor(domain)))

/** A domain, or `default` for all others. */
export function destinationOf(sent: string): string {
  const domain = sent.toLowerCase() === OTHERS ? OTHERS : toDomainName(sent)
  if (domain === undefined) throw new NotADomain('domain')
  return domain
}

/** Changes the given fields only. */
export async function storeLimit(tx: Tx, sent: string, changes: Partial<IspLimit>, now: Date) {
  const domain = destinationOf(sent)
  await limits.lockLimits(tx)
  const limit = { ...(await limitOf(tx, domain)), ...changes }
  await limits.storeLimit(tx, domain, limit, now)
  return { domain, ...limit }
}
