import type { Core } from '../../../core.ts'
import { findDomain, isOrganization } from '../../../hosting/tenants.repository.ts'
import * as tracked from '../tracked.repository.ts'
import { trackingIds } from '../tracking-ids.ts'

/** The fields of a report that identify the original message. */
export interface Known {
  organization_id?: string | null
  email_id?: string | null
  domain_id?: string | null
  tracking_id?: string | null
}

export interface Owner {
  organization_id: string
  domain_id: string | null
  domain: string
  email_id: string | null
  tracking_id: string | null
}

/** Finds the organization of the original message; undefined when no field leads to one. */
export function ownerFinder({ db, vault }: Pick<Core, 'db' | 'vault'>) {
  const ids = trackingIds(vault)
  return async (known: Known): Promise<Owner | undefined> => {
    const copyId = known.tracking_id ? ids.read(known.tracking_id)?.copy : undefined
    const [copy] = copyId === undefined ? [] : await tracked.findCopies(db, [copyId])
    if (copy) {
      const { organization_id, domain_id, domain, email_id } = copy
      return { organization_id, domain_id, domain, email_id, tracking_id: copy.id }
    }
    const email_id = known.email_id?.replace(/^<|>$/g, '') || null
    const message = email_id === null ? undefined : await tracked.findMessage(db, email_id)
    const said = known.organization_id ?? undefined
    if (said === undefined) return message && { ...message, email_id, tracking_id: null }
    if (!(await isOrganization(db, said))) return undefined
    const domain = known.domain_id
      ? await findDomain(db, said, { id: known.domain_id })
      : message?.organization_id === said
        ? message
        : undefined
    return {
      organization_id: said,
      domain_id: domain?.domain_id ?? null,
      domain: domain?.domain ?? '',
      email_id,
      tracking_id: null,
    }
  }
}
