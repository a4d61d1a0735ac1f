import type { Core } from '../../../core.ts'
import { writeBehind } from '../../../lib/write-behind.ts'
import { type Click, insertMany } from './clicks.repository.ts'

export type ClickRecorder = ReturnType<typeof clickRecorder>

/** Stores clicks behind the answers. */
export function clickRecorder({ db, log }: Pick<Core, 'db' | 'log'>) {
  let recorded = 0
  const queue = writeBehind<Click>({
    log,
    name: 'clicks on links',
    batch: 500,
    async store(clicks) {
      await insertMany(db, clicks)
      recorded += clicks.length
    },
  })
  return {
    get counts() {
      return { recorded, dropped: queue.dropped }
    },
    get waiting() {
      return queue.waiting
    },
    add: queue.add,
    stop: queue.stop,
  }
}
