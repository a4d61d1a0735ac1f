import type { Core } from '../../../core.ts'
import { HOUR_MS } from '../../../lib/time.ts'

export type BlockNeeds = Pick<Core, 'config' | 'db' | 'mailQueue' | 'mailServers' | 'now'>

/** Computes one part of the overview. Alert rules use it too, with an organization or null for all. */
export type Block<Value> = (needs: BlockNeeds, organization: string | null) => Promise<Value>

export const ago = (now: Date, hours: number): string =>
  new Date(now.getTime() - hours * HOUR_MS).toISOString()

/** Returns the start of each of the last 24 hours, oldest first, ending with the current hour. */
export function lastHours(now: Date): string[] {
  const current = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS
  return Array.from({ length: 24 }, (_, index) =>
    new Date(current - (23 - index) * HOUR_MS).toISOString(),
  )
}
