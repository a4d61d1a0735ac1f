import { OutOfTime, taskIn } from '../../../lib/worker-pool.ts'
import { Refusal } from './answers.ts'
import type { Context } from './context.ts'

const TIME_LIMIT_MS = 5000
const zoneTask = taskIn<typeof import('../objects/check-zone.task.ts')>(
  'features/caldav/objects/check-zone',
)

/** Refuses XML content that is no time zone. The rules of a zone can take long to follow. */
export async function checkZone({ core, me }: Context, content: string | undefined): Promise<void> {
  if (content === undefined) return
  const limits = { owner: me.organization_id, timeLimitMs: TIME_LIMIT_MS }
  const message = await core.workers.run(zoneTask, content, limits).catch((error) => {
    if (error instanceof OutOfTime) return 'The time zone takes too long to read'
    throw error
  })
  if (message !== undefined) throw new Refusal(403, '<C:valid-calendar-data/>', { message })
}
