import { cardLines } from '../objects/card.ts'

export interface ContactFields {
  name: string
  email_addresses: string[]
  phone_numbers: string[]
}

/** The fields that lists show of each vCard: runs in a worker thread. */
export default (texts: string[]): ContactFields[] => texts.map(fieldsOf)

function fieldsOf(text: string): ContactFields {
  const lines = cardLines(text)
  const values = (name: string) =>
    lines.filter((line) => line.name === name).map(({ value }) => plain(value))
  const email_addresses = values('EMAIL')
  return {
    name: values('FN')[0] ?? email_addresses[0] ?? '',
    email_addresses,
    phone_numbers: values('TEL'),
  }
}

const plain = (value: string) =>
  value
    .replace(/\\([nN,;\\])/g, (_all, character: string) => (/n/i.test(character) ? ' ' : character))
    .trim()
