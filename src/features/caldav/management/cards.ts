import { sha256 } from '../../../lib/tokens.ts'
import type { NewContact } from './management.schemas.ts'

const text = (value: string) => value.replace(/[\\,;]/g, '\\$&').replace(/\p{Cc}+/gu, ' ')

/** The name of the object of a UID. */
export const nameOfCard = (uid: string): string => `${sha256(uid).slice(0, 32)}.vcf`

/** A vCard 3.0 from plain fields. */
export function cardFrom(uid: string, contact: Omit<NewContact, 'vcard'>): string {
  const { name, email_addresses = [], phone_numbers = [] } = contact
  const shown = text(name ?? email_addresses[0] ?? phone_numbers[0] ?? '')
  return [
    'BEGIN:VCARD',
    'VERSION:3.0',
    `UID:${uid}`,
    `FN:${shown}`,
    `N:${shown};;;;`,
    ...email_addresses.map((address) => `EMAIL;TYPE=INTERNET:${text(address)}`),
    ...phone_numbers.map((number) => `TEL:${text(number)}`),
    'END:VCARD',
    '',
  ].join('\r\n')
}
