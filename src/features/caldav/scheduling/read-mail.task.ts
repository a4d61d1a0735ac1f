import libmime from 'libmime'
import { textOf } from '../../../mime/charset.ts'
import { decodedBody } from '../../../mime/encoded-body.ts'
import { readStructure } from '../../../mime/structure.ts'
import { parseCalendar } from '../objects/calendar.ts'
import { scheduledParts } from './people.ts'
import type { Method } from './plan.ts'

const METHODS: readonly string[] = ['REQUEST', 'CANCEL', 'REPLY']
/** A larger calendar is no invitation. */
const MAX_BYTES = 1024 * 1024

export interface CalendarMessage {
  method: Method
  uid: string
  calendar: string
}

/** The invitation in a mail; undefined when it has none. Runs in a worker thread. */
export default async ({ raw }: { raw: Uint8Array }): Promise<CalendarMessage | undefined> => {
  const { parts } = readStructure(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength))
  for (const part of parts) {
    const { node } = part
    const type = node.headers ? node.headers.getFirst('content-type') : ''
    if (node.contentType !== 'text/calendar' || part.body.length > 2 * MAX_BYTES) continue
    const named = libmime.parseHeaderValue(type).params.method?.toUpperCase()
    const body = await decodedBody(part)
    if (body.length > MAX_BYTES) continue
    const found = messageIn(textOf(body, node.charset || 'utf-8'), named)
    if (found) return found
  }
  return undefined
}

/** RFC 6047 section 2.4: the method in the header and the one in the calendar are the same. */
function messageIn(calendar: string, named: string | undefined): CalendarMessage | undefined {
  try {
    const root = parseCalendar(calendar)
    const method = String(root.getFirstPropertyValue('method') ?? '').toUpperCase()
    const uid = scheduledParts(root)[0]?.getFirstPropertyValue('uid')
    const isUsable = METHODS.includes(method) && (named === undefined || named === method)
    if (!isUsable || typeof uid !== 'string' || uid === '') return undefined
    return { method: method as Method, uid, calendar }
  } catch {
    return undefined
  }
}
