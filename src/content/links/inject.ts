import { joined } from '../../lib/shared-bytes.ts'
import { isUtf8 } from '../../mime/charset.ts'
import { type ByteEdit, type EditableBody, splice } from '../../mime/edits.ts'
import { editableBody } from '../../mime/encoded-body.ts'
import { headerBlock, headerEnd, headerValue } from '../../mime/headers.ts'
import { MimeMessage } from '../../mime/message.ts'
import { hasOnlyFields, isWellFormed } from '../../mime/parts.ts'
import type { Part } from '../../mime/structure.ts'
import { type Copy, htmlPlanner, type Slot, type Wishes } from './html-plan.ts'
import { isShownHtml } from './shown-parts.ts'

export const STAMP = 'X-Svc-ID'
const OPT_OUT = 'X-Svc-Tracking'

interface PlannedPart {
  part: Part
  body: EditableBody
  slots: Slot[]
}

/**
 * Finds the places to change once; `write` then makes a copy for each recipient. Undefined for a
 * message that programs could read in different ways: it must pass unchanged.
 */
export function planInjection(message: MimeMessage, wishes: Wishes) {
  const { parts, root, unread } = message.structure
  if (unread !== undefined || !isWellFormed(root.node)) return undefined
  const { headers, raw } = message
  const planner = htmlPlanner(wishes)
  // A change would make an existing signature invalid.
  const isSigned = headers.some(({ name }) => /^(dkim-signature|arc-seal)$/.test(name))
  const isOptedOut = /^(off|no|false|0|disabled)$/i.test(headerValue(headers, OPT_OUT) ?? '')
  const isUntracked = isSigned || isOptedOut || !(wishes.opens || wishes.clicks)

  function planned(part: Part): PlannedPart[] {
    const body = editableBody(part)
    const slots = body ? planner.slotsOf(body.text, isUtf8(part.node.charset)) : []
    return body && slots.length > 0 ? [{ part, body, slots }] : []
  }
  const plannedParts = isUntracked ? [] : parts.filter(isShownHtml).flatMap(planned)

  const bodyEdits = (copy: Copy): ByteEdit[] =>
    plannedParts.map(({ part, body, slots }) => ({
      start: part.bodyStart,
      end: part.end,
      bytes: Buffer.from(body.write(planner.editsOf(slots, copy)), 'latin1'),
    }))

  return {
    /** Link targets by position. */
    links: planner.links,
    isTrackable: plannedParts.length > 0,
    isOptedOut,
    messageId: headerValue(headers, 'message-id')?.replace(/^<|>$/g, ''),

    /** Adds headers that the message lacks and, for a recipient, the tracking URLs. */
    write(added: Record<string, string>, copy?: Copy): MimeMessage {
      const more = { ...added, ...(copy && unsubscribeHeaders(message, copy)) }
      const bytes = headerWith(message, more)
      const edits = [{ start: 0, end: headerEnd(raw), bytes }, ...(copy ? bodyEdits(copy) : [])]
      return new MimeMessage(splice(raw, edits))
    },
  }
}

/** The header without the opt-out, and with those of the fields that it lacks. */
function headerWith({ headers }: MimeMessage, added: Record<string, string>): Buffer {
  const lines = Object.entries(added)
    .filter(([name]) => headerValue(headers, name) === undefined)
    .map(([name, value]) => ({ name: name.toLowerCase(), line: `${name}: ${value}\r\n` }))
  const others = headers.filter(({ name }) => name !== OPT_OUT.toLowerCase())
  return headerBlock([...others, ...lines])
}

/** Adds fields to the header and reads nothing else, so it is quick for every message. */
export async function stampMessage(
  message: MimeMessage,
  added: Record<string, string>,
): Promise<MimeMessage> {
  const end = headerEnd(message.raw)
  if (end === message.raw.length || !hasOnlyFields(message.headers)) return message
  return new MimeMessage(await joined([headerWith(message, added), message.raw.subarray(end)]))
}

/** RFC 8058. An unsubscribe header of the sender stays. */
const unsubscribeHeaders = ({ headers }: MimeMessage, { unsubscribeUrl }: Copy) =>
  headerValue(headers, 'list-unsubscribe') === undefined
    ? {
        'List-Unsubscribe': `<${unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }
    : {}
