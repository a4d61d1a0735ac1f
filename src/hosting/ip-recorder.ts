import type { Core } from '../core.ts'
import { periodically } from '../lib/periodically.ts'
import { ipNews } from './ip-news.ts'
import { record } from './ip-reputation.repository.ts'

const FLUSH_MS = 1000
const MAX_WAITING = 50_000

export type IpRecorder = ReturnType<typeof ipRecorder>

/** Collects IP reputation and stores it in batches, for callers without a transaction of their own. */
export function ipRecorder({ db, log, now }: Pick<Core, 'db' | 'log' | 'now'>) {
  let news = ipNews()

  async function flush(): Promise<void> {
    if (news.size === 0) return
    const taken = news
    news = ipNews()
    const rows = taken.take()
    // A failed batch is lost: reputation is a hint, and mail must not wait for it.
    await db.transaction().execute((tx) => record(tx, rows, now()))
  }

  const loop = periodically(FLUSH_MS, flush, (error) =>
    log.warn({ err: error }, 'storing IP reputation failed'),
  )

  return {
    mail: (ip: string, seen: Parameters<typeof news.mail>[1]): void => {
      if (news.size < MAX_WAITING) news.mail(ip, seen)
    },
    flush: loop.now,
    stop: loop.stop,
  }
}
