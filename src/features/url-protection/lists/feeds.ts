import { stat } from 'node:fs/promises'
import type { Core } from '../../../core.ts'
import { periodically } from '../../../lib/periodically.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { hostOf, namesAbove, prefixesOf } from './entries.ts'
import { type FeedTable, isListed } from './feed-table.ts'

const LOOK_MS = 2000
const TIME_LIMIT_MS = 10 * 60_000

const task = taskIn<typeof import('./read-feed.task.ts')>('features/url-protection/lists/read-feed')

interface Feed {
  path: string
  /** Changes with the file; empty before the first look. */
  version: string
  table: FeedTable | undefined
  unread: number
  loadedAt: Date | undefined
  problem: string | undefined
}

/** The state of a feed file, for operators. */
export interface FeedState {
  path: string
  entries: number
  unread_lines: number
  loaded_at: string | null
  problem: string | null
}

export type Feeds = ReturnType<typeof openFeeds>

/** Reads the feed files of the operator, again whenever one has changed. */
export function openFeeds({
  config,
  log,
  now,
  workers,
}: Pick<Core, 'config' | 'log' | 'now' | 'workers'>) {
  const feeds: Feed[] = config.URL_FEED_FILES.map((path) => ({
    path,
    version: '',
    table: undefined,
    unread: 0,
    loadedAt: undefined,
    problem: undefined,
  }))

  async function look(feed: Feed): Promise<void> {
    try {
      const version = await versionOf(feed.path)
      if (version === feed.version && feed.problem === undefined) return
      const limits = { owner: 'url feeds', timeLimitMs: TIME_LIMIT_MS }
      const { table, unread } = await workers.run(task, feed.path, limits)
      // A file that changed meanwhile may have been read in part: the next look reads it again.
      if ((await versionOf(feed.path)) !== version) return
      Object.assign(feed, { version, table, unread, loadedAt: now(), problem: undefined })
      log.info({ path: feed.path, entries: table.entries, unread }, 'read a feed of blocked hosts')
    } catch (error) {
      const problem = (error as Error).message
      if (problem !== feed.problem) {
        log.error(
          { err: error, path: feed.path, alert: true },
          'a feed of blocked hosts cannot be read',
        )
      }
      feed.problem = problem
    }
  }

  const looks = periodically(
    LOOK_MS,
    async () => {
      for (const feed of feeds) await look(feed)
    },
    (error) => log.error({ err: error }, 'looking at the feeds of blocked hosts failed'),
  )

  return {
    /** The first reading; a file that cannot be read does not stop the service. */
    ready: looks.now,
    get entries(): number {
      return feeds.reduce((sum, { table }) => sum + (table?.entries ?? 0), 0)
    },
    lists(url: URL): boolean {
      const tables = feeds.flatMap(({ table }) => (table && table.entries > 0 ? [table] : []))
      if (tables.length === 0) return false
      const names = [...namesAbove(hostOf(url)), ...prefixesOf(url)]
      return tables.some((table) => names.some((name) => isListed(table, name)))
    },
    states: (): FeedState[] =>
      feeds.map(({ path, table, unread, loadedAt, problem }) => ({
        path,
        entries: table?.entries ?? 0,
        unread_lines: unread,
        loaded_at: loadedAt?.toISOString() ?? null,
        problem: problem ?? null,
      })),
    stop: looks.stop,
  }
}

async function versionOf(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path)
  return `${ino} ${size} ${mtimeMs}`
}
