import { encodeWords } from '../../../mime/words.ts'
import { type Mailbox, oneLine, writeMailbox } from './mailbox-text.ts'

export interface Letter {
  /** Names the message and its parts; the same for every attempt to send it. */
  id: string
  message_id: string
  to: readonly Mailbox[]
  cc: readonly Mailbox[]
  subject: string
  html?: string | undefined
  text?: string | undefined
}

export interface Common {
  from: Mailbox
  replyTo: readonly Mailbox[]
  headers: Readonly<Record<string, string>>
  date: Date
  /** The boundary before each attachment; undefined without attachments. */
  boundary: string | undefined
}

export interface Attachment {
  filename: string
  content_type: string
  /** In base64. */
  content: string
  content_id?: string | undefined
}

/** The message, without the attachments that follow its text. */
export function composeLetter(letter: Letter, common: Common): string {
  const { boundary, headers, from, replyTo, date } = common
  const head = [
    `From: ${writeMailbox(from)}`,
    ...addresses('To', letter.to),
    ...addresses('Cc', letter.cc),
    ...addresses('Reply-To', replyTo),
    `Subject: ${encodeWords(oneLine(letter.subject))}`,
    `Date: ${date.toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: ${letter.message_id}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${encodeWords(oneLine(value))}`),
    'MIME-Version: 1.0',
  ]
  const body = textOf(letter)
  if (boundary === undefined) return [...head, body].join('\r\n')
  return [
    ...head,
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    body,
  ].join('\r\n')
}

/** The attachments as the end of a message, after `composeLetter` with the same boundary. */
export function composeAttachments(attachments: readonly Attachment[], boundary: string): string {
  const parts = attachments.map(({ filename, content_type, content, content_id }) => {
    const name = encodeWords(oneLine(filename)).replace(/["\\]/g, '_')
    return [
      `--${boundary}`,
      `Content-Type: ${content_type}; name="${name}"`,
      `Content-Disposition: ${content_id === undefined ? 'attachment' : 'inline'}; ${filenameOf(filename)}`,
      ...(content_id === undefined ? [] : [`Content-ID: <${content_id}>`]),
      'Content-Transfer-Encoding: base64',
      '',
      inLines(content),
      '',
    ].join('\r\n')
  })
  return `${parts.join('')}--${boundary}--\r\n`
}

const addresses = (field: string, mailboxes: readonly Mailbox[]): string[] =>
  mailboxes.length === 0 ? [] : [`${field}: ${mailboxes.map(writeMailbox).join(',\r\n ')}`]

function textOf({ id, html, text }: Letter): string {
  const plain = text === undefined ? undefined : part('text/plain', text)
  const page = html === undefined ? undefined : part('text/html', html)
  if (plain === undefined || page === undefined) return plain ?? page ?? part('text/plain', '')
  const boundary = `=_${id}.alternative`
  return [
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    `${plain}--${boundary}`,
    `${page}--${boundary}--`,
    '',
  ].join('\r\n')
}

const part = (type: string, text: string): string =>
  [
    `Content-Type: ${type}; charset=utf-8`,
    'Content-Transfer-Encoding: base64',
    '',
    inLines(Buffer.from(text).toString('base64')),
    '',
  ].join('\r\n')

const inLines = (base64: string): string => base64.replace(/.{76}(?=.)/g, '$&\r\n')

/** RFC 2231, where the name is not plain ASCII. */
function filenameOf(filename: string): string {
  const name = oneLine(filename)
  if (/^[\x20-\x7e]*$/.test(name)) return `filename="${name.replace(/["\\]/g, '\\$&')}"`
  const escaped = encodeURIComponent(name).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `filename*=utf-8''${escaped}`
}
