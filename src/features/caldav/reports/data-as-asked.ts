import { OutOfTime, taskIn } from '../../../lib/worker-pool.ts'
import { childOf, type Element, elementsOf } from '../../../lib/xml.ts'
import type { Shape } from '../objects/shape.ts'
import { rangeIn, UnusableRange } from '../objects/time-range.ts'
import { Refusal } from '../protocol/answers.ts'
import type { Context } from '../protocol/context.ts'
import { CALENDAR_DATA } from '../protocol/properties.ts'
import type { Wanted } from '../protocol/responses.ts'
import type { StoredObject } from '../store/objects.repository.ts'
import { CALDAV } from '../xml/names.ts'

const TIME_LIMIT_MS = 5000
const shapeTask = taskIn<typeof import('../objects/shape-objects.task.ts')>(
  'features/caldav/objects/shape-objects',
)

/** The form in which a report wants the data; undefined for the data as it is stored. */
export function shapeIn(wanted: Wanted): Shape | undefined {
  const data = 'elements' in wanted ? wanted.elements.get(CALENDAR_DATA) : undefined
  if (!data || elementsOf(data).length === 0) return undefined
  const shape: Shape = {}
  const comp = childOf(data, CALDAV, 'comp')
  if (comp) shape.comp = comp
  for (const [name, key] of RANGES) {
    const range = childOf(data, CALDAV, name)
    if (range) shape[key] = boundsOf(range)
  }
  return Object.keys(shape).length > 0 ? shape : undefined
}

const RANGES = [
  ['expand', 'expand'],
  ['limit-recurrence-set', 'limitRecurrences'],
  ['limit-freebusy-set', 'limitBusy'],
] as const

function boundsOf(element: Element): { from: number; to: number } {
  try {
    const { from, to } = rangeIn(element)
    if (from === undefined || to === undefined) {
      throw new UnusableRange(`${element.name} has two bounds`)
    }
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
  const shape = shapeIn(wanted)
  if (!shape || rows.length === 0) return rows
  const texts = rows.map(({ data = '' }) => data)
  const limits = { owner: me.organization_id, timeLimitMs: TIME_LIMIT_MS }
  const made = await core.workers.run(shapeTask, { texts, shape, zone }, limits).catch((error) => {
    if (error instanceof OutOfTime) return texts
    throw error
  })
  return rows.map((row, index) => ({ ...row, data: made[index] ?? '' }))
}
