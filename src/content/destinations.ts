import type { Db } from '../database/database.ts'
import { aliasTargets } from '../hosting/alias-targets.repository.ts'
import type { Senders } from '../hosting/senders.ts'

interface Needs {
  db: Db
  senders: Pick<Senders, 'find'>
}

/** The recipients of the mail of one organization after its stages. */
export interface Destinations {
  /** Recipients that Postfix delivers: of this organization, and outside of this host. */
  here: string[]
  /** Recipients of other organizations of this host, which have stages of their own. */
  elsewhere: Map<string, string[]>
  /** The number of recipients after the expansion of aliases. */
  total: number
  /** The number of those that are not of this organization. */
  leaving: number
}

/** Aliases may lead to aliases; Postfix ends a longer chain too. */
const MAX_DEPTH = 20

export async function destinationsOf(
  needs: Needs,
  organizationId: string,
  recipients: readonly string[],
): Promise<Destinations> {
  const result: Destinations = { here: [], elsewhere: new Map(), total: 0, leaving: 0 }
  const found = { here: new Set<string>(), total: new Set<string>() }
  const hosts = await hostsOf(needs, recipients)
  const own = recipients.filter((one) => hosts.get(one) === organizationId)
  const targets = await expanded(needs, organizationId, own)
  for (const recipient of recipients) {
    const final = targets.get(recipient) ?? [{ address: recipient, host: hosts.get(recipient) }]
    const foreign = final.filter(({ host }) => host !== undefined && host !== organizationId)
    for (const { address, host } of final) {
      if (found.total.has(address.toLowerCase())) continue
      found.total.add(address.toLowerCase())
      if (host !== organizationId) result.leaving++
    }
    for (const { address, host = '' } of foreign) {
      const others = result.elsewhere.get(host) ?? []
      if (!others.includes(address)) result.elsewhere.set(host, [...others, address])
    }
    // Postfix expands an alias itself, unless a part of it belongs to the stages of another tenant.
    const kept =
      foreign.length === 0
        ? [recipient]
        : final.filter((one) => !foreign.includes(one)).map(({ address }) => address)
    for (const address of kept) found.here.add(address)
  }
  return { ...result, here: [...found.here], total: found.total.size }
}

interface Target {
  address: string
  /** The organization that hosts it; undefined for an address elsewhere. */
  host: string | undefined
}

/** Follows the aliases of one organization to mailboxes, other organizations and the outside. */
async function expanded(
  needs: Needs,
  organizationId: string,
  recipients: readonly string[],
): Promise<Map<string, Target[]>> {
  const results = new Map(recipients.map((one) => [one, new Map<string, Target>()]))
  let open = recipients.map((root) => ({ root, address: root.toLowerCase() }))
  for (let depth = 0; open.length > 0 && depth < MAX_DEPTH; depth++) {
    const targets = await aliasTargets(needs.db, [...new Set(open.map(({ address }) => address))])
    const hosts = await hostsOf(needs, [...targets.values()].flat())
    const next: typeof open = []
    for (const { root, address } of open) {
      for (const target of targets.get(address) ?? [address]) {
        const host = target === address ? organizationId : hosts.get(target)
        const isEnd = target === address || host !== organizationId
        const result = results.get(root)
        if (isEnd) result?.set(target, { address: target, host })
        else next.push({ root, address: target })
      }
    }
    open = next
  }
  // A chain that is too long stays with Postfix.
  for (const { root, address } of open) {
    results.get(root)?.set(address, { address, host: organizationId })
  }
  return new Map([...results].map(([root, targets]) => [root, [...targets.values()]]))
}

async function hostsOf(
  { senders }: Needs,
  addresses: readonly string[],
): Promise<Map<string, string>> {
  const hosts = new Map<string, string>()
  for (const address of new Set(addresses)) {
    const host = await senders.find(address.toLowerCase(), 'inbound')
    if (host) hosts.set(address, host.organizationId)
  }
  return hosts
}
