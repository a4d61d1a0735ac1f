import { type Caller, isPlatform } from '../../access/caller.ts'
import { holderOf } from '../mailbox/holder.ts'
import { OrganizationNotFound } from '../organizations/organizations.errors.ts'
import { OrganizationRequired } from './encryption.errors.ts'

/** The keys that a request is about: those of an organization, or of one of its mailboxes alone. */
export interface Whose {
  organizationId: string
  account?: { id: string; email: string }
}

/** A tenant acts on its own organization, and finds no other one; a platform caller must name one. */
export function organizationOf(caller: Caller, sent: string | undefined): Whose {
  if (!isPlatform(caller)) {
    if (sent !== undefined && sent !== caller.organizationId) throw new OrganizationNotFound()
    return { organizationId: caller.organizationId ?? '' }
  }
  if (sent === undefined) throw new OrganizationRequired()
  return { organizationId: sent }
}

/** The same for reads, where the credential of a tenant decides and another organization is ignored. */
export const readOf = (caller: Caller, sent: string | undefined): Whose =>
  organizationOf(caller, isPlatform(caller) ? sent : undefined)

export const mailboxOf = (caller: Caller): Whose => ({
  organizationId: caller.organizationId ?? '',
  account: holderOf(caller),
})
