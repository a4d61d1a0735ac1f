import * as asn1js from 'asn1js'
import { Refused } from '../answer.ts'

/** A value of ASN.1 that was read. */
export type Node = asn1js.BaseBlock

/** Reads DER or BER. The library limits depth and number of values. */
export function read(bytes: Uint8Array, what: string): Node {
  const { offset, result } = asn1js.fromBER(bytes)
  if (offset === -1 || offset !== bytes.length) throw new Refused(`${what} is not valid DER`)
  return result
}

/** The values within a SEQUENCE, a SET or a tag. */
export function within(node: Node | undefined): Node[] {
  const { value } = (node?.valueBlock ?? {}) as { value?: unknown }
  return Array.isArray(value) ? value : []
}

/** The bytes of an OCTET STRING, also one in pieces. */
export function octets(node: Node | undefined): Buffer {
  if (node?.idBlock.isConstructed) return Buffer.concat(within(node).map(octets))
  const { valueHexView } = (node?.valueBlock ?? {}) as { valueHexView?: Uint8Array }
  return Buffer.from(valueHexView ?? [])
}

export const oidOf = (node: Node | undefined): string =>
  node instanceof asn1js.ObjectIdentifier ? node.getValue() : ''

export const integerOf = (node: Node | undefined): number =>
  node instanceof asn1js.Integer ? node.valueBlock.valueDec : Number.NaN

/** The number of a context-specific tag. */
export const tagOf = ({ idBlock }: Node): number | undefined =>
  idBlock.tagClass === 3 ? idBlock.tagNumber : undefined

export const encoded = (node: Node): Buffer => Buffer.from(node.toBER(false))

const SEQUENCE = 0x30
const SET = 0x31

/** A value in DER. */
function value(tag: number, pieces: readonly Uint8Array[]): Buffer {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return Buffer.concat([Buffer.of(tag), lengthOf(length), ...pieces])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length)
  const hex = length.toString(16)
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return Buffer.concat([Buffer.of(0x80 | bytes.length), bytes])
}

/** Writes DER. */
export const der = {
  sequence: (...pieces: Uint8Array[]) => value(SEQUENCE, pieces),
  /** DER wants the values of a SET OF in order. */
  set: (...pieces: Buffer[]) => value(SET, pieces.toSorted(Buffer.compare)),
  octets: (bytes: Uint8Array) => value(0x04, [bytes]),
  bits: (bytes: Uint8Array) => value(0x03, [Buffer.of(0), bytes]),
  null: () => Buffer.of(0x05, 0),
  integer(number: number) {
    const hex = number.toString(16)
    const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
    return value(0x02, (bytes[0] ?? 0) >= 0x80 ? [Buffer.of(0), bytes] : [bytes])
  },
  oid: (text: string) => encoded(new asn1js.ObjectIdentifier({ value: text })),
  time: (date: Date) => encoded(new asn1js.UTCTime({ valueDate: date })),
  /** A tag around values: [number] { ... }. */
  tagged: (number: number, ...pieces: Uint8Array[]) => value(0xa0 | number, pieces),
  /** A tag instead of the one of a primitive value: [number] IMPLICIT. */
  instead: (number: number, bytes: Uint8Array) => value(0x80 | number, [bytes]),
}

/** The text of PEM blocks with one of these labels, in their order. */
export function pemBlocks(text: string, label: RegExp): { label: string; bytes: Buffer }[] {
  const found: { label: string; bytes: Buffer }[] = []
  for (const [, begin = '', body = '', end] of text.matchAll(
    /-----BEGIN ([A-Z0-9 #]{1,40})-----([^-]*)-----END ([A-Z0-9 #]{1,40})-----/g,
  )) {
    if (begin !== end || !label.test(begin)) continue
    found.push({ label: begin, bytes: Buffer.from(body, 'base64') })
  }
  return found
}

export const base64Lines = (bytes: Buffer): string =>
  bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\r\n')

export const pem = (label: string, bytes: Buffer): string =>
  `-----BEGIN ${label}-----\n${base64Lines(bytes).replaceAll('\r', '')}\n-----END ${label}-----\n`
