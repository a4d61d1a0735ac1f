import addressparser from 'nodemailer/lib/addressparser'
import { decodeWords } from '../../../mime/words.ts'

/** A field of a header: the name as written, the value as written without the last line break. */
export interface Field {
  name: string
  value: string
}

export interface Address {
  name: string | null
  email: string
}

export interface Group {
  name: string | null
  addresses: Address[]
}

const MAX_VALUE = 64 * 1024
const COMMENT = /\([^()]*\)/g

const unfolded = (value: string): string => value.slice(0, MAX_VALUE).replace(/\r?\n(?=[ \t])/g, '')

/** Decoded text in Unicode NFC. PostgreSQL refuses NUL and lone surrogates. */
export function plainText(value: string): string {
  return decodeWords(unfolded(value))
    .replace(/[\r\n\0]/g, ' ')
    .trim()
    .normalize('NFC')
    .toWellFormed()
}

const parsed = (value: string) => addressparser(unfolded(value)) as ParsedAddress[]

interface ParsedAddress {
  name?: string
  address?: string
  group?: ParsedAddress[]
}

const addressOf = ({ name, address }: ParsedAddress): Address => ({
  name: name ? plainText(name) : null,
  email: plainText(address ?? ''),
})

const flat = (list: ParsedAddress[]): Address[] =>
  list.flatMap((one) => (one.group ? flat(one.group) : [addressOf(one)]))

/** Addresses outside of groups form groups without a name. */
function groupsOf(value: string): Group[] {
  const groups: Group[] = []
  for (const one of parsed(value)) {
    if (one.group) {
      groups.push({ name: plainText(one.name ?? ''), addresses: flat(one.group) })
      continue
    }
    let last = groups.at(-1)
    if (!last || last.name !== null) {
      last = { name: null, addresses: [] }
      groups.push(last)
    }
    last.addresses.push(addressOf(one))
  }
  return groups
}

function bracketed(value: string, pattern: RegExp): string[] | null {
  const found = [...unfolded(value).matchAll(pattern)].map(([, inner = '']) => inner.toWellFormed())
  return found.length > 0 ? found : null
}

/** A date of RFC 5322 in the form of RFC 3339, with the offset that it names. */
export function dateOf(value: string): string | null {
  const text = unfolded(value).replace(COMMENT, '').trim()
  const time = Date.parse(text)
  if (Number.isNaN(time)) return null
  const [, sign = '+', hours = '00', minutes = '00'] = /([+-])(\d\d)(\d\d)$/.exec(text) ?? []
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  const local = new Date(time + offset * 60_000)
  if (Number.isNaN(local.getTime())) return null
  const shown = local.toISOString().slice(0, 19)
  return offset === 0 ? `${shown}Z` : `${shown}${sign}${hours}:${minutes}`
}

/** RFC 8621 section 4.1.2: the forms in which a client can ask for a field. */
export const forms = {
  asRaw: (value: string) => value.toWellFormed(),
  asText: plainText,
  asAddresses: (value: string) => flat(parsed(value)),
  asGroupedAddresses: groupsOf,
  asMessageIds: (value: string) => bracketed(value, /<([^<>\s]+)>/g),
  asDate: dateOf,
  asURLs: (value: string) => bracketed(value, /<([^<>]+)>/g),
} as const

export type Form = keyof typeof forms

const ADDRESS_FIELDS = /^(resent-)?(from|sender|reply-to|to|cc|bcc)$/
/** The fields that RFC 8621 allows for a form. Fields of no standard may have any form. */
const ALLOWED: Record<Exclude<Form, 'asRaw'>, RegExp> = {
  asText: /^(subject|comments|keywords|list-id)$/,
  asAddresses: ADDRESS_FIELDS,
  asGroupedAddresses: ADDRESS_FIELDS,
  asMessageIds: /^(message-id|in-reply-to|references|resent-message-id)$/,
  asDate: /^(date|resent-date)$/,
  asURLs: /^list-(help|unsubscribe|subscribe|post|owner|archive)$/,
}
const STANDARD =
  /^(resent-.*|received|return-path|content-.*|mime-version|message-id|in-reply-to|references|date|list-(help|unsubscribe|subscribe|post|owner|archive))$/

function isAllowed(form: Form, name: string): boolean {
  if (form === 'asRaw' || ALLOWED[form].test(name)) return true
  return !STANDARD.test(name) && !Object.values(ALLOWED).some((fields) => fields.test(name))
}

export interface HeaderProperty {
  name: string
  form: Form
  all: boolean
}

/** Reads a property such as `header:List-Id:asText:all`; undefined when it is not valid. */
export function headerProperty(property: string): HeaderProperty | undefined {
  const [, name = '', ...rest] = property.split(':')
  if (!/^[\x21-\x39\x3b-\x7e]+$/.test(name)) return undefined
  const all = rest.at(-1) === 'all'
  const named = all ? rest.slice(0, -1) : rest
  const [form = 'asRaw'] = named
  if (named.length > 1 || !Object.hasOwn(forms, form)) return undefined
  return isAllowed(form as Form, name.toLowerCase()) ? { name, form: form as Form, all } : undefined
}

/** The last field of a name, or all of them, in a form; null when there is none. */
export function headerValue(
  fields: readonly Field[],
  { name, form, all }: HeaderProperty,
): unknown {
  const lower = name.toLowerCase()
  const found = fields.filter((field) => field.name.toLowerCase() === lower)
  if (all) return found.map(({ value }) => forms[form](value))
  const last = found.at(-1)
  return last ? forms[form](last.value) : null
}

/** RFC 8621 section 4.1.3: properties that stand for a field in a form. */
export const CONVENIENT = {
  messageId: { name: 'Message-ID', form: 'asMessageIds' },
  inReplyTo: { name: 'In-Reply-To', form: 'asMessageIds' },
  references: { name: 'References', form: 'asMessageIds' },
  sender: { name: 'Sender', form: 'asAddresses' },
  from: { name: 'From', form: 'asAddresses' },
  to: { name: 'To', form: 'asAddresses' },
  cc: { name: 'Cc', form: 'asAddresses' },
  bcc: { name: 'Bcc', form: 'asAddresses' },
  replyTo: { name: 'Reply-To', form: 'asAddresses' },
  subject: { name: 'Subject', form: 'asText' },
  sentAt: { name: 'Date', form: 'asDate' },
} as const satisfies Record<string, { name: string; form: Form }>

export type ConvenientName = keyof typeof CONVENIENT

export interface Head {
  messageId: string[] | null
  inReplyTo: string[] | null
  references: string[] | null
  sender: Address[] | null
  from: Address[] | null
  to: Address[] | null
  cc: Address[] | null
  bcc: Address[] | null
  replyTo: Address[] | null
  subject: string | null
  sentAt: string | null
}

export const headOf = (fields: readonly Field[]): Head =>
  Object.fromEntries(
    Object.entries(CONVENIENT).map(([property, field]) => [
      property,
      headerValue(fields, { ...field, all: false }),
    ]),
  ) as unknown as Head
