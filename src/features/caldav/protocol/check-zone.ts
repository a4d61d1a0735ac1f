import { OutOfTime, taskIn } from '../../../lib/worker-pool.ts'
import { Refusal } from './answers.ts'
import type { Context } from './context.ts'

const TIME_LIMIT_MS = 5000
const zoneTask = taskIn<typeof import('../objects/check-zone.task.ts')>(
  'features/caldav/objects/check-zone',
)

/** The reason why XML content is no time zone. The rules of a zone can take long to follow. */
export function problemOfZone({ core, me }: Context, content: string): Promise<string | undefined> {
  const limits = { owner: me.organization_id, timeLimitMs: TIME_LIMIT_MS }
  return core.workers.run(zoneTask, content, limits).catch((error) => {
    if (error instanceof OutOfTime) return 'The time zone takes too long to read'
    throw error
  })
}

/** Refuses XML content that is no time zone. */
export async function checkZone(context: Context, content: string | undefined): Promise<void> {
  const message = content === undefined ? undefined : await problemOfZone(context, content)
  if (message !== undefined) throw new Refusal(403, '<C:valid-calendar-data/>', { message })
}
