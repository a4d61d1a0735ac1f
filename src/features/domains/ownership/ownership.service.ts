import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { DomainNotFound } from '../domains.errors.ts'
import * as domains from '../domains.repository.ts'
import { withUnicode } from '../domains.service.ts'
import { prove } from './prove.ts'

type Needs = Pick<Core, 'access' | 'change' | 'config' | 'db' | 'events' | 'now'>

export type OwnershipService = ReturnType<typeof ownershipService>

export const ownershipService = (needs: Needs) => ({
  /** An operator vouches for a claim; the reason goes to the audit trail. Proven again, nothing happens. */
  async verify(caller: Caller, id: string) {
    const claim = await domains.find(needs.db, caller.scope, id)
    if (!claim) throw new DomainNotFound()
    const proven = await needs.change(caller, (tx) => prove(needs, tx, claim, 'operator'))
    if (!proven) throw new DomainNotFound()
    await needs.access.settled()
    return withUnicode(proven)
  },
})
