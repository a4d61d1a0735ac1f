import { taskIn } from '../../../lib/worker-pool.ts'
import { childOf, type Element } from '../../../lib/xml.ts'
import { type Busy, joined } from '../objects/busy.ts'
import { rangeIn, UnusableRange } from '../objects/time-range.ts'
import { Refusal } from '../protocol/answers.ts'
import { type Context, collectionAt, type DavCore, type Handler } from '../protocol/context.ts'
import { type OpenCollection, openHome } from '../store/open-collection.ts'
import { CALDAV } from '../xml/names.ts'
import { unsupported } from './unsupported.ts'

const TIME_LIMIT_MS = 5000
export const MAX_SECONDS = 366 * 86_400
/** More periods than this are no answer that a program shows. */
const MAX_PERIODS = 10_000
const busyTask = taskIn<typeof import('../objects/free-busy.task.ts')>(
  'features/caldav/objects/free-busy',
)

/** free-busy-query (RFC 4791 section 7.10) for one calendar or for all calendars of the mailbox. */
export const freeBusyQuery: Handler = async (context) => {
  const { core, me, place, reply, root } = context
  if (!root || !('kind' in place) || place.kind !== 'calendar') throw unsupported()
  const { from, to } = boundsIn(root)
  const calendars = await calendarsAt(context)
  const found = await busyTimes(core, me.organization_id, calendars, { from, to })
  return reply
    .type('text/calendar; charset=utf-8')
    .send(freeBusy(found, from, to, core.now().getTime() / 1000))
}

/** The times at which events of these calendars make their owner busy. */
export async function busyTimes(
  { workers }: Pick<DavCore, 'workers'>,
  owner: string,
  calendars: readonly Pick<OpenCollection, 'list' | 'zone'>[],
  { from, to }: { from: number; to: number },
): Promise<Busy[]> {
  let found: Busy[] = []
  for (const { list, zone } of calendars) {
    const narrowing = { component: 'VEVENT', from, to, isZoned: zone !== undefined }
    for await (const rows of list(true, narrowing)) {
      const texts = rows.map(({ data = '' }) => data)
      const limits = { owner, timeLimitMs: TIME_LIMIT_MS }
      found = joined([
        ...found,
        ...(await workers.run(busyTask, { texts, from, to, zone }, limits)),
      ])
      if (found.length > MAX_PERIODS) {
        throw new Refusal(507, '<D:number-of-matches-within-limits/>', {
          message: `More than ${MAX_PERIODS} busy times; ask for a shorter range`,
        })
      }
    }
  }
  return found
}

function boundsIn(root: Element): { from: number; to: number } {
  const range = childOf(root, CALDAV, 'time-range')
  if (!range) throw new Refusal(400)
  try {
    const { from, to } = rangeIn(range)
    if (from === undefined || to === undefined || to - from > MAX_SECONDS) {
      throw new UnusableRange('The time range needs a start and an end, at most a year apart')
    }
    return { from, to }
  } catch (error) {
    if (!(error instanceof UnusableRange)) throw error
    throw new Refusal(400, undefined, { message: error.message })
  }
}

async function calendarsAt(context: Context): Promise<OpenCollection[]> {
  const { core, me, place } = context
  if (place.type === 'collection') return [await collectionAt(context, place)]
  if (place.type !== 'home') throw unsupported()
  return (await openHome(core.db, me, 'calendar')).filter(({ isOwn }) => isOwn)
}

const TYPES = ['BUSY', 'BUSY-TENTATIVE', 'BUSY-UNAVAILABLE'] as const

export function freeBusy(
  found: readonly Busy[],
  from: number,
  to: number,
  now: number,
  more: readonly string[] = [],
): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Mailplane//CalDAV//EN',
    ...(more.length > 0 ? ['METHOD:REPLY'] : []),
    'BEGIN:VFREEBUSY',
    ...more,
    `DTSTAMP:${stamp(now)}`,
    `DTSTART:${stamp(from)}`,
    `DTEND:${stamp(to)}`,
  ]
  for (const type of TYPES) {
    const name = type === 'BUSY' ? 'FREEBUSY' : `FREEBUSY;FBTYPE=${type}`
    for (const { start, end } of found.filter((one) => one.type === type)) {
      lines.push(`${name}:${stamp(start)}/${stamp(end)}`)
    }
  }
  return `${[...lines, 'END:VFREEBUSY', 'END:VCALENDAR'].join('\r\n')}\r\n`
}

const stamp = (seconds: number) => new Date(seconds * 1000).toISOString().replace(/[-:]|\.\d+/g, '')
