import type { Core } from '../core.ts'
import { listBlockedAddresses } from './throttle.repository.ts'

type Needs = Pick<Core, 'db' | 'now'> & { isFresh(): boolean }

export type BlockedAddresses = ReturnType<typeof blockedAddresses>

/** Addresses that may not present API keys just now, held in memory: asked on every request. */
export function blockedAddresses({ db, now, isFresh }: Needs) {
  let blocks = new Map<string, number>()

  return {
    /** The end of the block, in memory or, while changes may be missed, from the database. */
    until(ip: string): Date | undefined | Promise<Date | undefined> {
      if (!isFresh()) return this.read(ip)
      const end = blocks.get(ip)
      return end !== undefined && end > now().getTime() ? new Date(end) : undefined
    },

    async read(ip: string): Promise<Date | undefined> {
      const [row] = await listBlockedAddresses(db, now(), ip)
      if (!row?.until) {
        blocks.delete(ip)
        return undefined
      }
      blocks.set(ip, Date.parse(row.until))
      return new Date(row.until)
    },

    async readAll(): Promise<void> {
      const rows = await listBlockedAddresses(db, now())
      blocks = new Map(rows.map(({ client_ip, until }) => [client_ip, Date.parse(until ?? '')]))
    },
  }
}
