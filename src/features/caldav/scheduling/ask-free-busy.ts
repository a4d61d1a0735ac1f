import { sendableAddresses } from '../../../hosting/sendable-addresses.repository.ts'
import { taskIn } from '../../../lib/worker-pool.ts'
import { Refusal, sendXml } from '../protocol/answers.ts'
import type { Context, Handler } from '../protocol/context.ts'
import { busyTimes, freeBusy, MAX_SECONDS } from '../reports/free-busy.ts'
import * as collections from '../store/collections.repository.ts'
import * as objects from '../store/objects.repository.ts'
import { CALENDAR_TIMEZONE } from '../xml/names.ts'
import { escaped } from '../xml/write.ts'
import * as owners from './owners.repository.ts'
import type { Question } from './read-question.task.ts'

const TIME_LIMIT_MS = 5000
const MAX_BYTES = 256 * 1024
const MAX_ATTENDEES = 100

const questionTask = taskIn<typeof import('./read-question.task.ts')>(
  'features/caldav/scheduling/read-question',
)

/**
 * Answers a question for the busy times of mailboxes of the own organization (RFC 6638 section 5).
 * Other people are not known here.
 */
export const askFreeBusy: Handler = async (context) => {
  const { core, me, place, reply, request, body } = context
  if (place.type !== 'outbox') throw new Refusal(405)
  const type = String(request.headers['content-type'] ?? '')
  if (!/^text\/calendar\b/i.test(type)) throw new Refusal(403, '<C:supported-calendar-data/>')
  if (body.length > MAX_BYTES) throw new Refusal(403, '<C:max-resource-size/>')
  const limits = { owner: me.organization_id, timeLimitMs: TIME_LIMIT_MS }
  const question = await core.workers.run(questionTask, body.toString('utf8'), limits)
  if (!question || question.attendees.length > MAX_ATTENDEES) {
    throw new Refusal(403, '<C:valid-scheduling-message/>')
  }
  const { from, to, organizer } = question
  if (to <= from || to - from > MAX_SECONDS) {
    throw new Refusal(403, '<C:valid-scheduling-message/>', {
      message: 'The time range has at most a year',
    })
  }
  if (!(await sendableAddresses(core.db, me)).includes(organizer)) {
    throw new Refusal(403, '<C:organizer-allowed/>')
  }
  let responses = ''
  for (const attendee of question.attendees)
    responses += await responseFor(context, question, attendee)
  return sendXml(reply, 200, 'C:schedule-response', responses)
}

async function responseFor(
  { core, me }: Context,
  { from, to, organizer, uid }: Question,
  { address, uri }: Question['attendees'][number],
): Promise<string> {
  const [mailbox] =
    address === undefined ? [] : await owners.mailboxesAt(core.db, me.organization_id, [address])
  const recipient = `<C:recipient><D:href>${escaped(uri)}</D:href></C:recipient>`
  if (!mailbox) {
    const status = '<C:request-status>3.7;Invalid calendar user</C:request-status>'
    return `<C:response>${recipient}${status}</C:response>`
  }
  const rows = await collections.list(core.db, mailbox.owner, 'calendar')
  const calendars = rows.map(({ id, properties }) => ({
    zone: properties[CALENDAR_TIMEZONE],
    list: (withData: boolean, narrowing?: objects.Narrowing) =>
      objects.list(core.db, id, withData, narrowing),
  }))
  const found = await busyTimes(core, me.organization_id, calendars, { from, to })
  const lines = [
    `UID:${uid.replace(/[\r\n]/g, '')}`,
    `ORGANIZER:mailto:${organizer}`,
    `ATTENDEE:${uri.replace(/[\r\n]/g, '')}`,
  ]
  const data = freeBusy(found, from, to, core.now().getTime() / 1000, lines)
  const status = '<C:request-status>2.0;Success</C:request-status>'
  return `<C:response>${recipient}${status}<C:calendar-data>${escaped(data)}</C:calendar-data></C:response>`
}
