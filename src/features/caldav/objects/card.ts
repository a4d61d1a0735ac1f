/** One line of a vCard without its folding. */
export interface CardLine {
  /** In upper case, without its group. */
  name: string
  parameters: string
  value: string
}

export type CardCondition = 'valid-address-data' | 'supported-address-data'

/** The reason for refusing a card, as the name of a precondition of RFC 6352. */
export class UnusableCard extends Error {
  readonly condition: CardCondition
  constructor(message: string, condition: CardCondition = 'valid-address-data') {
    super(message)
    this.condition = condition
  }
}

export const CARD_VERSIONS = ['3.0', '4.0']

/** Reads the lines of a vCard. A value is not interpreted; queries compare it as text. */
export function cardLines(text: string): CardLine[] {
  const lines = text.replace(/\r?\n[ \t]/g, '').split(/\r?\n/)
  return lines.flatMap((line) => {
    const colon = valueStart(line)
    if (colon === -1) return []
    const head = line.slice(0, colon)
    const semicolon = head.indexOf(';')
    const name = semicolon === -1 ? head : head.slice(0, semicolon)
    return [
      {
        name: name.slice(name.lastIndexOf('.') + 1).toUpperCase(),
        parameters: semicolon === -1 ? '' : head.slice(semicolon),
        value: line.slice(colon + 1),
      },
    ]
  })
}

/** The first colon that is not inside quotes. */
function valueStart(line: string): number {
  let isQuoted = false
  for (let at = 0; at < line.length; at++) {
    const character = line[at]
    if (character === '"') isQuoted = !isQuoted
    else if (character === ':' && !isQuoted) return at
  }
  return -1
}

/** Checks the structure of a vCard and returns its UID. */
export function readCard(text: string): string {
  const lines = cardLines(text.replace(/^\ufeff/, ''))
  const [first] = lines
  const last = lines.at(-1)
  const count = (name: string) => lines.filter((line) => line.name === name).length
  if (first?.name !== 'BEGIN' || first.value.trim().toUpperCase() !== 'VCARD') {
    throw new UnusableCard('The object is not a VCARD')
  }
  if (last?.name !== 'END' || last.value.trim().toUpperCase() !== 'VCARD') {
    throw new UnusableCard('The VCARD has no end')
  }
  if (count('BEGIN') > 1) throw new UnusableCard('An object is one VCARD')
  if (count('VERSION') !== 1) throw new UnusableCard('A VCARD has one VERSION')
  const version = lines.find(({ name }) => name === 'VERSION')?.value.trim() ?? ''
  if (!CARD_VERSIONS.includes(version)) {
    throw new UnusableCard('A VCARD has the version 3.0 or 4.0', 'supported-address-data')
  }
  const uid = lines.find(({ name }) => name === 'UID')?.value.trim() ?? ''
  if (uid === '' || count('UID') > 1) throw new UnusableCard('A VCARD has one UID')
  if (Buffer.byteLength(uid) > 1024) throw new UnusableCard('A UID has at most 1024 bytes')
  return uid
}
