import { isIP } from 'node:net'
import type { Core } from '../../../core.ts'
import type { Db } from '../../../database/database.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { verifyingKeys } from '../links/link-keys.ts'
import { hostOf } from '../lists/entries.ts'
import type { EntrySet } from '../lists/entry-set.ts'
import { openFeeds } from '../lists/feeds.ts'
import { knownLists } from '../lists/known-lists.ts'
import { dnsLists } from './dns-lists.ts'
import { hostedNames, mixesScripts } from './look-alikes.ts'
import type { Reason, Verdict } from './verdict.ts'

const CHANNEL = 'mailplane_url_protection'
const PATTERN_TIME_MS = 2000
const RETRY_MS = 1000
/** Expressions see this much of an address. */
const MAX_MATCHED = 2048

const patternTask = taskIn<typeof import('./match-patterns.task.ts')>(
  'features/url-protection/checking/match-patterns',
)

type Needs = Pick<
  Core,
  'config' | 'db' | 'listen' | 'log' | 'now' | 'vault' | 'withDns' | 'workers'
>

export type Checker = Awaited<ReturnType<typeof openChecker>>

// One per process, shared by the API and the service that people reach.
const known = new WeakMap<Db, Promise<Checker>>()

export function checkerOf(core: Needs): Promise<Checker> {
  let found = known.get(core.db)
  if (!found) {
    found = openChecker(core)
    found.catch(() => known.delete(core.db))
    known.set(core.db, found)
  }
  return found
}

/** Ends the checker of this process, if there is one. */
export async function closeChecker({ db }: Pick<Core, 'db'>): Promise<void> {
  const found = known.get(db)
  known.delete(db)
  await (await found?.catch(() => undefined))?.close()
}

/**
 * Checks addresses when they are clicked. Keys, lists and hosted names are in memory and follow the
 * database; while it is away, the last state applies.
 */
async function openChecker(core: Needs) {
  const { db, listen, log, workers } = core
  const keys = verifyingKeys(core)
  const lists = knownLists(core)
  const feeds = openFeeds(core)
  const dns = dnsLists(core)
  let hosted = hostedNames([])

  const loads = {
    keys: () => keys.load(db),
    domains: async () => {
      const rows = await db
        .selectFrom('domains')
        .select('domain')
        .where('hosted', '=', true)
        .execute()
      hosted = hostedNames(rows.map(({ domain }) => domain))
    },
    all: async () => {
      await keys.load(db)
      await loads.domains()
      await lists.loadAll()
    },
  }
  const loadOf = (message: string) =>
    message.startsWith('list:')
      ? () => lists.load(message.slice('list:'.length))
      : message === 'keys' || message === 'domains'
        ? loads[message]
        : loads.all

  // Loads run one after the other; one that waits already covers later messages of its kind.
  const waiting = new Set<string>()
  let running: Promise<void> = Promise.resolve()
  let retry: NodeJS.Timeout | undefined
  let isClosed = false
  function refresh(message: string): void {
    if (isClosed || waiting.has(message)) return
    waiting.add(message)
    running = running.then(async () => {
      waiting.delete(message)
      try {
        await loadOf(message)()
      } catch (error) {
        if (isClosed) return
        log.warn({ err: error }, 'lists of blocked links are not current')
        clearTimeout(retry)
        retry = setTimeout(() => refresh('all'), RETRY_MS)
        retry.unref()
      }
    })
  }
  const feed = await listen(CHANNEL, { message: refresh, subscribed: () => refresh('all') })
  await loads.all()
  await Promise.all([running, feeds.ready()])

  async function matches({ patterns }: EntrySet, owner: string, text: string): Promise<boolean> {
    if (patterns.length === 0) return false
    const input = { text: text.slice(0, MAX_MATCHED), patterns }
    const limits = { owner, timeLimitMs: PATTERN_TIME_MS }
    try {
      return (await workers.run(patternTask, input, limits)) !== undefined
    } catch (error) {
      log.warn({ err: error, organization: owner }, 'patterns for links were not tried')
      return false
    }
  }

  async function judgedBy(list: EntrySet, owner: string, url: URL) {
    if (list.allows(url)) return 'allowed' as const
    const isBlocked = list.blocks(url) || (await matches(list, owner, url.href))
    return isBlocked ? ('blocked' as const) : undefined
  }

  /** Rules that warn; none of them is a proof. */
  function doubts(url: URL, host: string): Reason[] {
    const found: [Reason, boolean][] = [
      ['look_alike', hosted.isImitatedBy(host)],
      ['mixed_scripts', mixesScripts(host)],
      ['ip_address', isIP(host) !== 0],
      ['user_part', url.username !== '' || url.password !== ''],
    ]
    return found.flatMap(([reason, applies]) => (applies ? [reason] : []))
  }

  return {
    keyOf: keys.keyOf,
    feeds,
    /** Waits until changes that were committed before are in force in this process. */
    async settled(): Promise<void> {
      await feed.settled()
      await running
    },
    async check(organizationId: string, address: string): Promise<Verdict> {
      if (!URL.canParse(address)) return { verdict: 'suspicious', reasons: ['unreadable'] }
      const url = new URL(address)
      const own = await judgedBy(lists.of(organizationId), organizationId, url)
      if (own === 'blocked') return { verdict: 'blocked', reasons: ['blocked_by_organization'] }
      if (own === 'allowed') return { verdict: 'safe', reasons: ['allowed_by_organization'] }
      const global = await judgedBy(lists.of(''), 'operator', url)
      if (global === 'blocked') return { verdict: 'blocked', reasons: ['blocked_by_operator'] }
      if (global === 'allowed') return { verdict: 'safe', reasons: ['allowed_by_operator'] }
      if (feeds.lists(url)) return { verdict: 'blocked', reasons: ['feed'] }
      const host = hostOf(url)
      if (await dns.lists(host)) return { verdict: 'blocked', reasons: ['dns_list'] }
      const reasons = doubts(url, host)
      return { verdict: reasons.length > 0 ? 'suspicious' : 'safe', reasons }
    },
    async close(): Promise<void> {
      isClosed = true
      clearTimeout(retry)
      await feed.close()
      await running
      await feeds.stop()
    },
  }
}
