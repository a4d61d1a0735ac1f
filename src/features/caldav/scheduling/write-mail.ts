import ICAL from 'ical.js'
import { encodeWords } from '../../../mime/words.ts'
import { addressOf, masterOf, organizerOf, scheduledParts, statusOf } from './people.ts'
import type { Message } from './plan.ts'

interface Envelope {
  /** Names the message; the same for every attempt to send it. */
  id: string
  hostname: string
  now: Date
}

/** Writes a message as mail that programs show as an invitation (RFC 6047). */
export function writeMail(message: Message, { id, hostname, now }: Envelope): string {
  const { calendar, method, recipient, sender } = message
  const data = `${calendar.toString()}\r\n`
  const [outer, inner] = [`=_${id}.mixed`, `=_${id}.alternative`]
  const part = (type: string, text: string, ...lines: string[]) =>
    [
      `Content-Type: ${type}`,
      ...lines,
      'Content-Transfer-Encoding: base64',
      '',
      inLines(Buffer.from(text).toString('base64')),
    ].join('\r\n')
  return [
    `From: ${nameOf(calendar, sender)}<${sender}>`,
    `To: <${recipient}>`,
    `Subject: ${encodeWords(subjectOf(message))}`,
    `Date: ${now.toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${id.toLowerCase()}.calendar@${hostname}>`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${outer}"`,
    '',
    `--${outer}`,
    `Content-Type: multipart/alternative; boundary="${inner}"`,
    '',
    `--${inner}`,
    part('text/plain; charset=utf-8', textOf(message)),
    `--${inner}`,
    part(`text/calendar; charset=utf-8; method=${method}`, data),
    `--${inner}--`,
    `--${outer}`,
    part(
      'application/ics; name="invite.ics"',
      data,
      'Content-Disposition: attachment; filename="invite.ics"',
    ),
    `--${outer}--`,
    '',
  ].join('\r\n')
}

const inLines = (base64: string): string => (base64.match(/.{1,76}/g) ?? []).join('\r\n')

/** The name of the sender as the calendar has it, before its address. */
function nameOf(calendar: ICAL.Component, sender: string): string {
  const people = scheduledParts(calendar).flatMap((part) => [
    ...part.getAllProperties('organizer'),
    ...part.getAllProperties('attendee'),
  ])
  const name = oneLine(people.find((one) => addressOf(one) === sender)?.getParameter('cn') ?? '')
  if (name === '') return ''
  return /^[\x20-\x7e]*$/.test(name) && !name.includes('=?')
    ? `"${name.replace(/["\\]/g, '\\$&')}" `
    : `${encodeWords(name)} `
}

const MAX_LINE = 200
const oneLine = (value: unknown): string =>
  String(value ?? '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .toWellFormed()
    .slice(0, MAX_LINE)

const ANSWERS: Record<string, string> = {
  ACCEPTED: 'Accepted',
  DECLINED: 'Declined',
  TENTATIVE: 'Tentatively accepted',
  'IN-PROCESS': 'Begun',
  COMPLETED: 'Completed',
  DELEGATED: 'Delegated',
}

function mainPart({ calendar }: Message): ICAL.Component {
  const parts = scheduledParts(calendar)
  return (masterOf(parts) ?? parts[0]) as ICAL.Component
}

function kindOf(message: Message): string {
  if (message.method === 'CANCEL') return 'Cancelled'
  if (message.method === 'REQUEST') return message.isUpdate ? 'Updated invitation' : 'Invitation'
  const [attendee] = mainPart(message).getAllProperties('attendee')
  return ANSWERS[statusOf(attendee)] ?? 'Reply'
}

const summaryOf = (message: Message): string =>
  oneLine(mainPart(message).getFirstPropertyValue('summary')) || '(no title)'

const subjectOf = (message: Message): string => `${kindOf(message)}: ${summaryOf(message)}`

/** The text for programs and people without a calendar. */
function textOf(message: Message): string {
  const part = mainPart(message)
  const rows = [
    ['What', summaryOf(message)],
    ['When', timeOf(part, 'dtstart')],
    ['Until', timeOf(part, 'dtend') || timeOf(part, 'due')],
    ['Where', oneLine(part.getFirstPropertyValue('location'))],
    ['Organizer', organizerOf(part) ?? ''],
    ...(message.method === 'REPLY' ? [['Answer of', message.sender]] : []),
  ]
  const lines = rows.filter(([, value]) => value !== '').map((row) => row.join(': '))
  return `${kindOf(message)}\r\n\r\n${lines.join('\r\n')}\r\n`
}

function timeOf(part: ICAL.Component, name: string): string {
  const property = part.getFirstProperty(name)
  const value = property?.getFirstValue()
  if (!(value instanceof ICAL.Time)) return ''
  const two = (number: number) => String(number).padStart(2, '0')
  const date = `${value.year}-${two(value.month)}-${two(value.day)}`
  if (value.isDate) return date
  const zone = value.zone?.tzid === 'UTC' ? 'UTC' : oneLine(property?.getParameter('tzid'))
  return `${date} ${two(value.hour)}:${two(value.minute)} ${zone}`.trim()
}
