import type { Core } from '../core.ts'
import { findBlocks } from './auth.repository.ts'

interface Needs extends Pick<Core, 'db' | 'listen' | 'log' | 'now'> {
  /** Somebody has opened the door again. */
  lifted(ip: string): void
}

export type Blocks = Awaited<ReturnType<typeof startBlocks>>

/** Doors that are closed just now, held in memory: operators' blocks and those after failures. */
export async function startBlocks({ db, lifted, listen, log, now }: Needs) {
  const stored = new Map<string, Map<string, number>>()
  // Made here and not yet stored.
  const fresh = new Map<string, number>()

  const keep = (blocks: Awaited<ReturnType<typeof findBlocks>>) => {
    for (const { ip, user = '', until } of blocks) {
      const ofIp = stored.get(ip) ?? new Map<string, number>()
      ofIp.set(user, Math.max(until, ofIp.get(user) ?? 0))
      stored.set(ip, ofIp)
    }
  }
  const reread = async (ip: string) => {
    const blocks = await findBlocks(db, now(), ip)
    const was = stored.delete(ip)
    keep(blocks)
    if (was && !stored.has(ip)) lifted(ip)
  }
  const rereadAll = async () => {
    const blocks = await findBlocks(db, now())
    const before = [...stored.keys()]
    stored.clear()
    keep(blocks)
    for (const ip of before) if (!stored.has(ip)) lifted(ip)
  }
  const failed = (error: unknown) => log.error({ err: error }, 'blocks could not be read')

  const feed = await listen('mailplane_access', {
    message(payload) {
      if (payload.startsWith('block:')) reread(payload.slice('block:'.length)).catch(failed)
    },
    subscribed: () => void rereadAll().catch(failed),
  })
  await rereadAll()

  const isClosed = (until: number | undefined) => until !== undefined && until > now().getTime()
  const known = (ip: string, user: string): boolean => {
    const ofIp = stored.get(ip)
    return (
      isClosed(fresh.get(ip)) ||
      isClosed(fresh.get(`${ip} ${user}`)) ||
      isClosed(ofIp?.get('')) ||
      isClosed(ofIp?.get(user))
    )
  }

  return {
    /** From memory; while changes may be missed, from the database when it answers. */
    isBlocked(ip: string, user: string): boolean | Promise<boolean> {
      if (feed.connected) return known(ip, user)
      return reread(ip).then(
        () => known(ip, user),
        () => known(ip, user),
      )
    },
    /** Closes the door at once; `stored` says when the database knows it too. */
    close(ip: string, user: string | undefined, until: number) {
      const name = user === undefined ? ip : `${ip} ${user}`
      fresh.set(name, until)
      return {
        stored() {
          keep([{ ip, user, until }])
          if (fresh.get(name) === until) fresh.delete(name)
        },
      }
    },
    prune(): void {
      for (const [ip, ofIp] of stored) {
        for (const [user, until] of ofIp) if (!isClosed(until)) ofIp.delete(user)
        if (ofIp.size === 0) stored.delete(ip)
      }
    },
    stop: () => feed.close(),
  }
}
