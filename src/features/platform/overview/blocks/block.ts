import type { Core } from '../../../../core.ts'

export type BlockNeeds = Pick<Core, 'config' | 'db' | 'mailQueue' | 'now'>

/** One part of the overview; an alert looks at the same computation, perhaps of one organization. */
export type Block<Value> = (needs: BlockNeeds, organization: string | null) => Promise<Value>

const HOUR_MS = 3600_000
export const ago = (now: Date, hours: number): string =>
  new Date(now.getTime() - hours * HOUR_MS).toISOString()

/** The beginnings of 24 hours, oldest first, the last being the current one. */
export function lastHours(now: Date): string[] {
  const current = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS
  return Array.from({ length: 24 }, (_, index) =>
    new Date(current - (23 - index) * HOUR_MS).toISOString(),
  )
}
