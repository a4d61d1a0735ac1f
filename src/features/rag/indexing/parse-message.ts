import { type AddressObject, type ParsedMail, simpleParser } from 'mailparser'
import { plainText } from '../text/chunks.ts'
import { htmlText } from '../text/html-text.ts'
import { isStorable, type Parsed } from './parsed.ts'

const MAX_HTML = 256 * 1024
const MAX_BODY = 200_000
const MAX_ATTACHED = 20_000
const MAX_HEADER = 2000

/** Parses a message, which may be cut off. Unreadable parts are left out. */
export async function parseMessage(
  source: Buffer,
  received: Date | undefined,
  fields: ReadonlySet<string>,
): Promise<Parsed> {
  const mail = await simpleParser(source, {
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true,
  })
  const header = (text: string | undefined) =>
    text === undefined || text === '' ? null : plainText(text).slice(0, MAX_HEADER)
  const sender = header(mail.from?.text)
  const to = header(textOf(mail.to))
  const cc = header(textOf(mail.cc))
  const subject = header(mail.subject)
  const date = mail.date ?? received
  return {
    message_id: header(mail.messageId),
    subject,
    sender,
    recipients: to,
    date: date && isStorable(date) ? date.toISOString() : null,
    has_attachment: mail.attachments.some(({ related }) => !related),
    searched_subject: fields.has('subject') ? (subject ?? '') : '',
    people: [fields.has('from') && sender, fields.has('to') && to, fields.has('cc') && cc]
      .filter(Boolean)
      .join(' '),
    body: [fields.has('body') && bodyOf(mail), fields.has('attachments') && attachedTo(mail)]
      .filter(Boolean)
      .join(' '),
  }
}

const textOf = (addresses: AddressObject | AddressObject[] | undefined): string | undefined =>
  Array.isArray(addresses) ? addresses.map(({ text }) => text).join(', ') : addresses?.text

const bodyOf = ({ text, html }: ParsedMail): string =>
  (text?.trim() ? text : htmlText((html || '').slice(0, MAX_HTML))).slice(0, MAX_BODY)

/** Names of attachments, and the content of text attachments. */
const attachedTo = ({ attachments }: ParsedMail): string =>
  attachments
    .map(({ filename = '', contentType, content }) =>
      contentType.startsWith('text/')
        ? `${filename} ${content.subarray(0, MAX_ATTACHED).toString('utf8')}`
        : filename,
    )
    .join(' ')
    .slice(0, MAX_BODY)
