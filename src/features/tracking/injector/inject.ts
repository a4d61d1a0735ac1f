import type { Decoded, Edit } from './edits.ts'
import { htmlPartsOf, isUtf8Part } from './html-parts.ts'
import { type Copy, htmlPlanner, type Slot, type Wishes } from './html-plan.ts'
import { type Entity, headerOf, parseMessage } from './mime.ts'
import { decode } from './transfer.ts'

export const STAMP = 'X-Svc-ID'
export const OPT_OUT = 'X-Svc-Tracking'

interface Part {
  entity: Entity
  body: Decoded
  slots: Slot[]
}

/**
 * Reads a message once, to write it as often as it has recipients. Undefined for what is no message;
 * that goes on untouched.
 */
export function planInjection(raw: Buffer, wishes: Wishes) {
  const text = raw.toString('latin1')
  const message = parseMessage(text)
  if (!message) return undefined
  const planner = htmlPlanner(wishes)
  // Somebody has signed it already, and would be made a liar.
  const isSigned = message.headers.some(({ name }) => /^(dkim-signature|arc-seal)$/.test(name))
  const optOut = headerOf(message, OPT_OUT.toLowerCase())
  const isOptedOut = /^(off|no|false|0|disabled)$/i.test(optOut ?? '')
  const isLeftAlone = isSigned || isOptedOut || !(wishes.opens || wishes.clicks)

  function planned(entity: Entity): Part[] {
    const encoding = headerOf(entity, 'content-transfer-encoding') ?? ''
    const body = decode(encoding, text.slice(entity.bodyStart, entity.end))
    const slots = body ? planner.slotsOf(body.text, isUtf8Part(entity)) : []
    return body && slots.length > 0 ? [{ entity, body, slots }] : []
  }
  const parts = isLeftAlone ? [] : htmlPartsOf(message).flatMap(planned)

  const bodyEdits = (copy: Copy): Edit[] =>
    parts.map(({ entity, body, slots }) => ({
      start: entity.bodyStart,
      end: entity.end,
      text: body.write(planner.editsOf(slots, copy)),
    }))

  return {
    /** What links lead to, by position. */
    links: planner.links,
    isTrackable: parts.length > 0,
    isOptedOut,
    messageId: headerOf(message, 'message-id')?.replace(/^<|>$/g, ''),

    /** The message with these headers unless it has them, and with a recipient's addresses in it. */
    write(headers: Record<string, string>, copy?: Copy): Buffer {
      const added = { ...headers, ...(copy && unsubscribing(message, copy)) }
      const lines = Object.entries(added)
        .filter(([name]) => headerOf(message, name.toLowerCase()) === undefined)
        .map(([name, value]) => `${name}: ${value}\r\n`)
      const stripped = message.headers
        .filter(({ name }) => name === OPT_OUT.toLowerCase())
        .map(({ start, end }) => ({ start, end, text: '' }))
      const { headersEnd } = message
      return spliced(raw, [
        ...stripped,
        { start: headersEnd, end: headersEnd, text: lines.join('') },
        ...(copy ? bodyEdits(copy) : []),
      ])
    },
  }
}

/** RFC 8058; whoever has a way of their own to unsubscribe keeps it. */
const unsubscribing = (message: Entity, { unsubscribeUrl }: Copy) =>
  headerOf(message, 'list-unsubscribe') === undefined
    ? {
        'List-Unsubscribe': `<${unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }
    : {}

function spliced(raw: Buffer, edits: readonly Edit[]): Buffer {
  const pieces: Buffer[] = []
  let at = 0
  for (const { start, end, text } of edits) {
    pieces.push(raw.subarray(at, start), Buffer.from(text, 'latin1'))
    at = end
  }
  return Buffer.concat([...pieces, raw.subarray(at)])
}
