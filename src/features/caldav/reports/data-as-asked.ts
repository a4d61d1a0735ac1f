import { OutOfTime, taskIn } from '../../../lib/worker-pool.ts'
import { childOf } from '../../../lib/xml.ts'
import { rangeIn, UnusableRange } from '../objects/time-range.ts'
import { Refusal } from '../protocol/answers.ts'
import type { Context } from '../protocol/context.ts'
import { CALENDAR_DATA } from '../protocol/properties.ts'
import type { Wanted } from '../protocol/responses.ts'
import type { StoredObject } from '../store/objects.repository.ts'
import { CALDAV } from '../xml/names.ts'

const TIME_LIMIT_MS = 5000
const expandTask = taskIn<typeof import('../objects/expand-objects.task.ts')>(
  'features/caldav/objects/expand-objects',
)

/** The range of which a report wants the instances instead of the rule; undefined for the data itself. */
export function expansionIn(wanted: Wanted): { from: number; to: number } | undefined {
  const data = 'elements' in wanted ? wanted.elements.get(CALENDAR_DATA) : undefined
  const expand = childOf(data, CALDAV, 'expand')
  if (!expand) return undefined
  try {
    const { from, to } = rangeIn(expand)
    if (from === undefined || to === undefined) throw new UnusableRange('expand has two bounds')
    return { from, to }
  } catch (error) {
    if (!(error instanceof UnusableRange)) throw error
    throw new Refusal(400, undefined, { message: error.message })
  }
}

/** The objects with their data in the form that the report asks for. */
export async function asAsked<Row extends StoredObject>(
  { core, me }: Context,
  wanted: Wanted,
  rows: Row[],
  zone: string | undefined,
): Promise<Row[]> {
  const range = expansionIn(wanted)
  if (!range || rows.length === 0) return rows
  const texts = rows.map(({ data = '' }) => data)
  const limits = { owner: me.organization_id, timeLimitMs: TIME_LIMIT_MS }
  const expanded = await core.workers
    .run(expandTask, { texts, ...range, zone }, limits)
    .catch((error) => {
      if (error instanceof OutOfTime) return texts
      throw error
    })
  return rows.map((row, index) => ({ ...row, data: expanded[index] ?? '' }))
}
