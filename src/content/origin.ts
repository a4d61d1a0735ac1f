import { timingSafeEqual } from 'node:crypto'
import { AUTOMATIC_ORIGIN, apiOrigin, ORIGIN_HEADER, RELEASED_ORIGIN } from '../mail/origin.ts'
import { type HeaderLine, headerValue, withHeaders } from '../mime/headers.ts'
import { MimeMessage } from '../mime/message.ts'

/** The sender of a message, as Postfix reports it in the origin header. */
export interface Origin {
  /** A login, or the envelope sender of a service of the installation or of a mailbox filter. */
  login: string
  /** A redirect or a reply of a mailbox filter. */
  isAutomatic: boolean
  /** An operator released it from the quarantine of the sender's organization. */
  isReleased: boolean
  /** A program sent it through the API, not a person. */
  isApi: boolean
}

/** Removes every origin header. Only a header with the key comes from Postfix. */
export async function takeOrigin(
  message: MimeMessage,
  key: string,
): Promise<{ message: MimeMessage; origin: Origin | undefined }> {
  const name = ORIGIN_HEADER.toLowerCase()
  const headers = message.headers.filter((header) => header.name === name)
  if (headers.length === 0) return { message, origin: undefined }
  const found = headers.map((header) => originIn(header, key)).find((one) => one !== undefined)
  const origin = found && { ...found, isApi: isOfApi(message, headers, key, found.login) }
  const others = message.headers.filter((header) => header.name !== name)
  return { message: new MimeMessage(await withHeaders(message.raw, others)), origin }
}

function isOfApi(
  message: MimeMessage,
  headers: readonly HeaderLine[],
  key: string,
  login: string,
): boolean {
  const expected = Buffer.from(apiOrigin(key, login, message.field('message-id') ?? ''))
  return headers.some((header) => {
    const given = Buffer.from(headerValue([header], header.name) ?? '')
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

function originIn(header: HeaderLine, key: string): Omit<Origin, 'isApi'> | undefined {
  const [given = '', ...words] = (headerValue([header], header.name) ?? '').split(' ')
  const [one, other] = [Buffer.from(given), Buffer.from(key)]
  if (one.length !== other.length || !timingSafeEqual(one, other)) return undefined
  const isMarked = (word: string) => words.length > 1 && words[0] === word
  const isAutomatic = isMarked(AUTOMATIC_ORIGIN)
  const isReleased = isMarked(RELEASED_ORIGIN)
  const login = (isAutomatic || isReleased ? words.slice(1) : words).join(' ')
  return { login, isAutomatic, isReleased }
}

/**
 * True for a message that a mailbox filter redirects. Dovecot writes this field directly after
 * `X-Sieve`; the text of a reply, which the holder chooses, comes later.
 */
export function isRedirect({ headers }: MimeMessage): boolean {
  const first = headers.findIndex(({ name }) => name === 'x-sieve')
  return first !== -1 && headers[first + 1]?.name === 'x-sieve-redirected-from'
}
