import type { Db } from '../../../database/database.ts'
import { storeUsageData } from '../rate-limiter.repository.ts'
import { countsByName } from '../usage.ts'
import { type Counters, nameOf, type Question, type Subject } from './counters.ts'

const MAX_SUBJECTS = 10_000

/** Copies the counts of domains and mailboxes to their rows, where their tenants read them. */
export function usageCopy(db: Db, counters: Pick<Counters, 'usage'>, now: () => Date) {
  const changed = new Map<string, Subject>()
  return {
    note({ bounds, record }: Question): void {
      if (!record) return
      for (const { subject } of bounds) {
        const isShown = subject.type === 'domain' || subject.type === 'mailbox'
        if (isShown && changed.size < MAX_SUBJECTS) changed.set(nameOf(subject), subject)
      }
    },

    async store(): Promise<void> {
      const subjects = [...changed.values()]
      changed.clear()
      const at = now()
      for (const subject of subjects) {
        const counts = countsByName(await counters.usage(subject, at.getTime()))
        await storeUsageData(db, subject, { ...counts, updated_at: at.toISOString() })
      }
    },
  }
}
