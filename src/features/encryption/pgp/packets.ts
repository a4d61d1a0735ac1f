/** Budgets of OpenPGP input. Each packet may cost a public-key operation. */
export const MAX_ARMOUR_BYTES = 1024 * 1024
const MAX_PACKETS = 500
const MAX_USER_IDS = 100

const SECRET_KEY = 5
const PUBLIC_KEY = 6
const USER_ID = 13
const USER_ATTRIBUTE = 17

/** Says why these packets are not read; undefined when they may be. They are counted, not parsed. */
export function packetProblem(bytes: Uint8Array): string | undefined {
  let packets = 0
  let keys = 0
  let userIds = 0
  for (let at = 0; at < bytes.length; ) {
    const packet = packetAt(bytes, at)
    if (!packet) return 'the packets are cut off or malformed'
    packets++
    if (packet.tag === SECRET_KEY || packet.tag === PUBLIC_KEY) keys++
    if (packet.tag === USER_ID || packet.tag === USER_ATTRIBUTE) userIds++
    if (packets > MAX_PACKETS) return `there are more than ${MAX_PACKETS} packets`
    if (userIds > MAX_USER_IDS) return `the key has more than ${MAX_USER_IDS} user ids`
    if (keys > 1) return 'there is more than one key'
    at = packet.end
  }
  return packets === 0 ? 'there are no packets' : undefined
}

/** RFC 9580 §4.2: the type of a packet, and where it ends. */
function packetAt(bytes: Uint8Array, start: number): { tag: number; end: number } | undefined {
  const first = bytes[start] ?? 0
  if ((first & 0x80) === 0) return undefined
  const isNew = (first & 0x40) !== 0
  const tag = isNew ? first & 0x3f : (first >> 2) & 0x0f
  const end = isNew ? endOfNew(bytes, start + 1) : endOfOld(bytes, start + 1, first & 3)
  return end === undefined || end > bytes.length ? undefined : { tag, end }
}

function endOfOld(bytes: Uint8Array, at: number, kind: number): number | undefined {
  // A packet of indeterminate length goes to the end.
  if (kind === 3) return bytes.length
  const size = 1 << kind
  const length = number(bytes, at, size)
  return length === undefined ? undefined : at + size + length
}

function endOfNew(bytes: Uint8Array, from: number): number | undefined {
  for (let at = from; ; ) {
    const first = bytes[at]
    if (first === undefined) return undefined
    if (first < 192) return at + 1 + first
    if (first < 224) return at + 2 + ((first - 192) << 8) + (bytes[at + 1] ?? 0) + 192
    if (first === 255) {
      const length = number(bytes, at + 1, 4)
      return length === undefined ? undefined : at + 5 + length
    }
    // A part of a packet; its next part follows.
    at += 1 + 2 ** (first & 0x1f)
  }
}

function number(bytes: Uint8Array, at: number, size: number): number | undefined {
  if (at + size > bytes.length) return undefined
  let value = 0
  for (let index = 0; index < size; index++) value = value * 256 + (bytes[at + index] ?? 0)
  return value
}
