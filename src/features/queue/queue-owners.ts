/** The organization of the login that sent a message, and its domain; null when it is not known. */
export interface Owner {
  org_id: string | null
  domain: string | null
}
export const NO_OWNER: Owner = { org_id: null, domain: null }

export type OwnerOf = (queueId: string) => Owner

/** Messages per organization. Without a message there is one entry, so that there is one event. */
export function countByOrganization(
  ids: readonly string[],
  ownerOf: OwnerOf,
): Map<string | null, number> {
  const counts = new Map<string | null, number>()
  for (const id of ids) {
    const { org_id } = ownerOf(id)
    counts.set(org_id, (counts.get(org_id) ?? 0) + 1)
  }
  return counts.size === 0 ? new Map([[null, 0]]) : counts
}
