import type { Core } from '../core.ts'
import { listBlockedAddresses } from './throttle.repository.ts'

type Needs = Pick<Core, 'db' | 'now'> & { isFresh(): boolean }

export type BlockedAddresses = ReturnType<typeof blockedAddresses>

/** Addresses that may not present API keys just now, held in memory: asked on every request. */
export function blockedAddresses({ db, now, isFresh }: Needs) {
  let blocks = new Map<string, number>()
  /** Being read after a change; who asks meanwhile waits for it. */
  const reading = new Map<string, Promise<Date | undefined>>()

  const find = async (ip: string): Promise<Date | undefined> => {
    const [row] = await listBlockedAddresses(db, now(), ip)
    return row?.until ? new Date(row.until) : undefined
  }

  return {
    /** The end of the block, in memory or, while changes may be missed, from the database. */
    until(ip: string): Date | undefined | Promise<Date | undefined> {
      if (!isFresh()) return this.read(ip)
      const changed = reading.get(ip)
      if (changed) return changed
      const end = blocks.get(ip)
      return end !== undefined && end > now().getTime() ? new Date(end) : undefined
    },

    read(ip: string): Promise<Date | undefined> {
      const task = find(ip)
        .then((until) => {
          // What was read before a later change is not what holds now.
          if (reading.get(ip) !== task) return until
          if (until) blocks.set(ip, until.getTime())
          else blocks.delete(ip)
          return until
        })
        .finally(() => {
          if (reading.get(ip) === task) reading.delete(ip)
        })
      reading.set(ip, task)
      return task
    },

    async readAll(): Promise<void> {
      const rows = await listBlockedAddresses(db, now())
      blocks = new Map(rows.map(({ client_ip, until }) => [client_ip, Date.parse(until ?? '')]))
    },
  }
}
