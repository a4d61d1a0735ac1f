import libmime from 'libmime'
import { encodeWords } from '../../../mime/words.ts'
import type { Address, Form, Group } from './header-forms.ts'

const COLUMNS = 76

/** Characters that would begin another field of the header. */
const oneLine = (text: string) => text.replace(/[\r\n\0]+/g, ' ')

function phrase(name: string): string {
  const text = oneLine(name)
  if (/^[\w !#$%&'*+/=?^`{|}~-]*$/.test(text) && !text.includes('=?')) return text
  if (/^[\x20-\x7e]*$/.test(text)) return `"${text.replace(/["\\]/g, '\\$&')}"`
  return encodeWords(text)
}

const addressText = ({ name, email }: Address): string => {
  const address = oneLine(email).replace(/[<>\s]/g, '')
  return name ? `${phrase(name)} <${address}>` : address
}

const addressesText = (list: readonly Address[]) => list.map(addressText).join(', ')

const groupText = ({ name, addresses }: Group) =>
  name === null ? addressesText(addresses) : `${phrase(name)}: ${addressesText(addresses)};`

/** The date of RFC 5322 for one of RFC 3339; it keeps the offset. */
export function rfc5322Date(text: string): string {
  const [, sign, hours = '00', minutes = '00'] = /([+-])(\d\d):(\d\d)$/.exec(text) ?? []
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  const local = new Date(Date.parse(text) + offset * 60_000)
  return local.toUTCString().replace('GMT', `${sign ?? '+'}${hours}${minutes}`)
}

const WRITTEN: Record<Exclude<Form, 'asRaw'>, (value: never) => string> = {
  asText: (value: string) => encodeWords(oneLine(value)),
  asAddresses: addressesText,
  asGroupedAddresses: (value: Group[]) => value.map(groupText).join(', '),
  asMessageIds: (value: string[]) => value.map((id) => `<${oneLine(id)}>`).join(' '),
  asDate: rfc5322Date,
  asURLs: (value: string[]) => value.map((url) => `<${oneLine(url)}>`).join(', '),
}

/** A field as a line of a message, folded. A raw value is written as it is. */
export function fieldLine(name: string, form: Form, value: unknown): string {
  if (form === 'asRaw') return `${name}:${String(value)}`
  return folded(`${name}: ${WRITTEN[form](value as never)}`)
}

export const folded = (line: string): string =>
  line.includes('\r\n') ? line : libmime.foldLines(line, COLUMNS, false)

/** `; name="…"`, in the encoding of RFC 2231 where it is needed. */
export function parameterText(key: string, value: string): string {
  return libmime
    .buildHeaderParam(key, oneLine(value), 50)
    .map(({ key: name, value: text }) =>
      name.endsWith('*')
        ? `; ${name}=${text}`
        : `; ${name}="${text.replace(/^"|"$/g, '').replace(/(?<!\\)"/g, '\\"')}"`,
    )
    .join('')
}
