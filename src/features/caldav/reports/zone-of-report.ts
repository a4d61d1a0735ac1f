import { childOf } from '../../../lib/xml.ts'
import { checkZone } from '../protocol/check-zone.ts'
import type { Context } from '../protocol/context.ts'
import type { OpenCollection } from '../store/open-collection.ts'
import { CALDAV } from '../xml/names.ts'
import { contentOf } from '../xml/write.ts'

/**
 * XML content of the zone in which dates and times without one count (RFC 4791 section 9.8): the zone
 * of the request, else that of the calendar, else none.
 */
export async function zoneOfReport(
  context: Context,
  collection: OpenCollection,
): Promise<string | undefined> {
  const asked = childOf(context.root, CALDAV, 'timezone')
  if (!asked) return collection.zone
  const content = contentOf(asked)
  await checkZone(context, content)
  return content
}
