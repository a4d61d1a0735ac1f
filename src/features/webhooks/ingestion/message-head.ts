import { MimeMessage } from '../../../mime/message.ts'

const MAX_VALUE_CHARACTERS = 998

interface MessageHead {
  message_id: string | null
  subject: string | null
  from: string | null
  to: string | null
  has_attachments: boolean
}

/** The headers of a message that an event contains, and whether a part of it is an attachment. */
export function readHead(eml: string): MessageHead {
  const message = new MimeMessage(Buffer.from(eml))
  const field = (name: string) => {
    const value = message.fields(name)[0]
    return value === undefined ? null : presentable(value)
  }
  return {
    message_id: field('message-id') || null,
    subject: field('subject'),
    from: field('from'),
    to: field('to'),
    has_attachments: message.structure.parts.some(({ node }) => node.disposition === 'attachment'),
  }
}

const presentable = (text: string): string =>
  text
    .replace(/[\s\x00-\x1f\x7f]+/g, ' ')
    .trim()
    .slice(0, MAX_VALUE_CHARACTERS)
    .toWellFormed()
