import type { Core } from '../../core.ts'
import type { Feed } from '../../database/listen.ts'
import { domainOf } from '../../lib/mail-address.ts'
import type { Direction } from './counters.ts'
import { findHost, findLogin, type Login, type RuleRow, rulesOf } from './senders.repository.ts'

const MAX_KEPT = 50_000
const PATIENCE_MS = 3000

/** Somebody of a hosted domain, with the rules that bind them in one direction. */
export interface Sender {
  name: string
  organizationId: string
  domain: string
  /** Undefined for an address of the domain that nobody can log in with. */
  login: Login | undefined
  rules: RuleRow[]
}

type Needs = Pick<Core, 'db' | 'listen'>

export type Senders = Awaited<ReturnType<typeof startSenders>>

/**
 * Senders and their rules, held in memory. Triggers tell of every change; while that may be missed,
 * they are read afresh, and what was known serves only when the database does not answer.
 */
export async function startSenders({ db, listen }: Needs) {
  const kept = new Map<string, Sender>()
  let evictions = 0
  const evict = (isMeant: (sender: Sender) => boolean) => {
    evictions++
    for (const [key, sender] of kept) if (isMeant(sender)) kept.delete(key)
  }
  const feed: Feed = await listen('mailplane_senders', {
    message(payload) {
      const split = payload.indexOf(':')
      const what = payload.slice(split + 1)
      if (payload.slice(0, split) === 'login') {
        evictions++
        for (const direction of ['outbound', 'inbound']) kept.delete(`${direction} ${what}`)
      } else evict(({ organizationId }) => organizationId === what)
    },
    subscribed: () => evict(() => true),
  })

  async function read(name: string, direction: Direction): Promise<Sender | undefined> {
    const login = await findLogin(db, name)
    const host = login ?? (name.includes('@') ? await findHost(db, domainOf(name)) : undefined)
    if (!host) return undefined
    const { organization_id: organizationId, domain } = host
    const rules = await rulesOf(db, direction, organizationId, domain, name)
    return { name, organizationId, domain, login, rules }
  }

  async function readAfresh(name: string, direction: Direction, key: string) {
    const before = evictions
    let sender: Sender | undefined
    try {
      sender = await within(PATIENCE_MS, read(name, direction))
    } catch (error) {
      const last = kept.get(key)
      if (last) return last
      throw error
    }
    // Unknown names are not kept: anybody may make up as many as they like.
    if (!sender) kept.delete(key)
    else if (before === evictions) {
      if (kept.size >= MAX_KEPT) kept.clear()
      kept.set(key, sender)
    }
    return sender
  }

  return {
    find(name: string, direction: Direction): Sender | undefined | Promise<Sender | undefined> {
      const key = `${direction} ${name}`
      const known = kept.get(key)
      return known && feed.connected ? known : readAfresh(name, direction, key)
    },
    settled: () => feed.settled(),
    close: () => feed.close(),
  }
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([promise, silence])
  } finally {
    clearTimeout(timer)
  }
}
