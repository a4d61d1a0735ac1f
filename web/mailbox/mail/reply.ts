import { distinct } from './addresses.ts'
import type { Address, Identity, Message } from './types.ts'

export type ReplyKind = 'reply' | 'all' | 'forward'

/** Recipients, subject and threading of an answer. */
export interface Answer {
  to: Address[]
  cc: Address[]
  subject: string
  inReplyTo: string[] | null
  references: string[] | null
}

type Original = Pick<
  Message,
  'from' | 'to' | 'cc' | 'replyTo' | 'subject' | 'messageId' | 'references'
>

export function answerTo(
  original: Original,
  kind: ReplyKind,
  identities: readonly Identity[],
): Answer {
  const own = identities.map(({ email }) => ({ email }))
  const isForward = kind === 'forward'
  const subject = prefixed(original.subject ?? '', isForward ? 'Fwd' : 'Re')
  if (isForward) return { to: [], cc: [], subject, inReplyTo: null, references: null }
  const senders = nonEmpty(original.replyTo) ?? original.from ?? []
  // An answer to one's own message goes to those who got it.
  const isOwn = distinct(senders, own).length === 0
  const to = isOwn ? distinct(original.to ?? [], own) : distinct(senders)
  const first = to.length > 0 ? to : distinct(senders)
  const others =
    kind === 'all' ? [...(isOwn ? [] : (original.to ?? [])), ...(original.cc ?? [])] : []
  return {
    to: first,
    cc: distinct(others, [...own, ...first]),
    subject,
    inReplyTo: original.messageId,
    references: nonEmpty([...(original.references ?? []), ...(original.messageId ?? [])]),
  }
}

const nonEmpty = <Item>(items: Item[] | null): Item[] | null =>
  items && items.length > 0 ? items : null

/** "Re: Re: x" and "AW: x" become one prefix. */
const prefixed = (subject: string, prefix: 'Re' | 'Fwd'): string => {
  const same = prefix === 'Re' ? /^((re|aw|antw|sv)\s*:\s*)+/i : /^((fwd?|wg)\s*:\s*)+/i
  return `${prefix}: ${subject.replace(same, '')}`.trim()
}

/** The identity that the message was sent to; otherwise the first one. */
export function identityFor(
  { to, cc, from }: Pick<Message, 'to' | 'cc' | 'from'>,
  identities: readonly Identity[],
): Identity | undefined {
  const addressed = [...(to ?? []), ...(cc ?? []), ...(from ?? [])].map(({ email }) =>
    email.toLowerCase(),
  )
  return identities.find(({ email }) => addressed.includes(email.toLowerCase())) ?? identities[0]
}

/** The text with `> ` before each line, without the signature and blank lines at its end. */
export function quoted(text: string): string {
  const [body = ''] = text.replace(/\r\n?/g, '\n').split(/^-- $/m)
  return body
    .trimEnd()
    .split('\n')
    .map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`.trimEnd()))
    .join('\n')
}

/** The signature below the text, after the line that programs recognize. */
export const withSignature = (text: string, signature: string | undefined): string =>
  signature?.trim() ? `${text}\n\n-- \n${signature.trim()}` : text
