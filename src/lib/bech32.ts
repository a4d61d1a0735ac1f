const LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
const CHECKSUM_LETTERS = 6

/** Encodes bytes with a prefix and a checksum (BIP 173), as age writes its keys. */
export function bech32Encode(prefix: string, bytes: Uint8Array): string {
  const values = regroup(bytes, 8, 5, true) as number[]
  const sum = checksum([...expanded(prefix), ...values, 0, 0, 0, 0, 0, 0]) ^ 1
  for (let i = 0; i < CHECKSUM_LETTERS; i++) values.push((sum >>> (5 * (5 - i))) & 31)
  return `${prefix}1${values.map((value) => LETTERS[value]).join('')}`
}

/** Undefined for a text that is not valid. */
export function bech32Decode(text: string): { prefix: string; bytes: Buffer } | undefined {
  const lower = text.toLowerCase()
  if (lower !== text && text.toUpperCase() !== text) return undefined
  const end = lower.lastIndexOf('1')
  const prefix = lower.slice(0, end)
  const values = [...lower.slice(end + 1)].map((letter) => LETTERS.indexOf(letter))
  if (end < 1 || values.length < CHECKSUM_LETTERS || values.includes(-1)) return undefined
  if (checksum([...expanded(prefix), ...values]) !== 1) return undefined
  const bytes = regroup(values.slice(0, -CHECKSUM_LETTERS), 5, 8, false)
  return bytes && { prefix, bytes: Buffer.from(bytes) }
}

function checksum(values: readonly number[]): number {
  let sum = 1
  for (const value of values) {
    const top = sum >>> 25
    sum = ((sum & 0x1ffffff) << 5) ^ value
    for (const [bit, generator] of GENERATORS.entries()) if ((top >>> bit) & 1) sum ^= generator
  }
  return sum >>> 0
}

function expanded(prefix: string): number[] {
  const codes = [...prefix].map((letter) => letter.charCodeAt(0))
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)]
}

/** Regroups bits; undefined when bits are left that are not padding. */
function regroup(
  values: Iterable<number>,
  from: number,
  to: number,
  isPadded: boolean,
): number[] | undefined {
  const groups: number[] = []
  let rest = 0
  let bits = 0
  for (const value of values) {
    rest = ((rest << from) | value) & 0xfff
    bits += from
    while (bits >= to) {
      bits -= to
      groups.push((rest >> bits) & ((1 << to) - 1))
    }
  }
  if (isPadded) {
    if (bits > 0) groups.push((rest << (to - bits)) & ((1 << to) - 1))
  } else if (bits >= from || (rest & ((1 << bits) - 1)) !== 0) return undefined
  return groups
}
