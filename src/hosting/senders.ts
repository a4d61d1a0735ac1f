import { findAddressRules } from '../access/address-rules.repository.ts'
import type { Core } from '../core.ts'
import type { Db } from '../database/database.ts'
import { openWatchedCache } from '../database/watched-cache.ts'
import type { AddressRule } from '../lib/address-rules.ts'
import { domainOf } from '../lib/mail-address.ts'
import { within } from '../lib/timeout.ts'
import type { Direction } from './rate-rules.ts'
import { findHost, findLogin, type Login, type RuleRow, rulesOf } from './senders.repository.ts'

const MAX_CACHED = 50_000
const READ_TIMEOUT_MS = 3000

/** A sender or recipient of a hosted domain, with the rules for one direction. */
export interface Sender {
  name: string
  organizationId: string
  domain: string
  /** Undefined for an e-mail address of the domain without a login. */
  login: Login | undefined
  rules: RuleRow[]
  /** The IP rules of the organization for its mailboxes. */
  addressRules: AddressRule[]
}

type Needs = Pick<Core, 'db' | 'listen'>

export type Senders = Awaited<ReturnType<typeof startSenders>>

/**
 * Caches senders and their rules. While changes may be missed they are read from the database; the
 * last known sender is used only when the database does not answer.
 */
export async function startSenders({ db, listen }: Needs) {
  const { cache, feed } = await openWatchedCache<Sender>(listen, {
    channel: 'mailplane_senders',
    max: MAX_CACHED,
    tagsOf: ({ name, organizationId }) => [`login:${name}`, `organization:${organizationId}`],
  })

  async function load(name: string, direction: Direction, key: string) {
    try {
      return await cache.load(key, () => within(READ_TIMEOUT_MS, readSender(db, name, direction)))
    } catch (error) {
      const stale = cache.getStale(key)
      if (stale) return stale
      throw error
    }
  }

  return {
    find(name: string, direction: Direction): Sender | undefined | Promise<Sender | undefined> {
      const key = `${direction} ${name}`
      return cache.get(key) ?? load(name, direction, key)
    },
    settled: () => feed.settled(),
    close: () => feed.close(),
  }
}

/** Reads a sender from the database, for rare work that needs no cache. */
export async function readSender(
  db: Db,
  name: string,
  direction: Direction,
): Promise<Sender | undefined> {
  const login = await findLogin(db, name)
  const host = login ?? (name.includes('@') ? await findHost(db, domainOf(name)) : undefined)
  if (!host) return undefined
  const { organization_id: organizationId, domain } = host
  const [rules, addressRules] = await Promise.all([
    rulesOf(db, direction, organizationId, domain, name),
    findAddressRules(db, organizationId, 'mailbox'),
  ])
  return { name, organizationId, domain, login, rules, addressRules }
}
