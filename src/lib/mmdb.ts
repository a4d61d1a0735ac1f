import { isIP } from 'node:net'

const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
const SEPARATOR = 16
const MAX_DEPTH = 64

export type GeoDatabase = ReturnType<typeof openGeoDatabase>

/** Reads the MaxMind DB format, version 2: a binary tree of address bits, then the records. */
export function openGeoDatabase(file: Buffer) {
  const marker = file.lastIndexOf(MARKER)
  if (marker < 0) throw new Error('this is no MaxMind database')
  const metadata = decoder(file.subarray(marker + MARKER.length)).read(0) as Record<string, unknown>
  const nodes = Number(metadata.node_count)
  const recordBits = Number(metadata.record_size)
  const isV6 = Number(metadata.ip_version) === 6
  if (![24, 28, 32].includes(recordBits) || !(nodes > 0)) {
    throw new Error('this kind of MaxMind database is not supported')
  }
  const nodeBytes = recordBits / 4
  const records = decoder(file.subarray(nodes * nodeBytes + SEPARATOR, marker))

  const next = (node: number, bit: number): number => {
    const at = node * nodeBytes
    if (recordBits === 24) return file.readUIntBE(at + 3 * bit, 3)
    if (recordBits === 32) return file.readUInt32BE(at + 4 * bit)
    // The middle byte holds the upper halves of both.
    const middle = file.readUInt8(at + 3)
    return bit === 0
      ? ((middle & 0xf0) << 20) | file.readUIntBE(at, 3)
      : ((middle & 0x0f) << 24) | file.readUIntBE(at + 4, 3)
  }

  return {
    find(address: string): unknown {
      const bits = bitsOf(address, isV6)
      if (!bits) return undefined
      let node = 0
      for (let index = 0; index < bits.length * 8 && node < nodes; index++) {
        node = next(node, ((bits[index >> 3] as number) >> (7 - (index & 7))) & 1)
      }
      return node > nodes ? records.read(node - nodes - SEPARATOR) : undefined
    },
  }
}

/** IPv4 lives in the IPv6 tree behind 96 zeros. */
function bitsOf(address: string, isV6: boolean): Buffer | undefined {
  const family = isIP(address)
  if (family === 0 || (family === 6 && !isV6)) return undefined
  if (family === 4) {
    const bytes = address.split('.').map(Number)
    return Buffer.from(isV6 ? [...new Array(12).fill(0), ...bytes] : bytes)
  }
  return ipv6Bytes(address)
}

function ipv6Bytes(address: string): Buffer {
  // Node writes every form of an IPv6 address in one way inside a URL.
  const plain = new URL(`http://[${address.replace(/%.*/, '')}]/`).hostname.slice(1, -1)
  const [head = '', tail] = plain.split('::')
  const words = (text: string) => (text === '' ? [] : text.split(':'))
  const start = words(head)
  const end = words(tail ?? '')
  const gap = new Array(8 - start.length - end.length).fill('0')
  const bytes = [...start, ...gap, ...end].flatMap((word) => {
    const value = Number.parseInt(word, 16)
    return [value >> 8, value & 255]
  })
  return Buffer.from(bytes)
}

/** Values as the format writes them: a control byte with kind and size, then the value. */
function decoder(data: Buffer) {
  let at = 0

  const bytes = (size: number): Buffer => {
    if (at + size > data.length) throw new Error('the MaxMind database is cut off')
    at += size
    return data.subarray(at - size, at)
  }
  const unsigned = (size: number): number => (size === 0 ? 0 : bytes(size).readUIntBE(0, size))
  const big = (size: number): bigint =>
    bytes(size).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)

  const sizeOf = (control: number): number => {
    const size = control & 31
    if (size < 29) return size
    if (size === 29) return 29 + unsigned(1)
    return size === 30 ? 285 + unsigned(2) : 65_821 + unsigned(3)
  }

  const pointer = (control: number): number => {
    const size = (control >> 3) & 3
    const high = control & 7
    if (size === 0) return high * 2 ** 8 + unsigned(1)
    if (size === 1) return high * 2 ** 16 + unsigned(2) + 2048
    return size === 2 ? high * 2 ** 24 + unsigned(3) + 526_336 : unsigned(4)
  }

  const value = (depth: number): unknown => {
    if (depth > MAX_DEPTH) throw new Error('the MaxMind database is nested too deeply')
    const control = unsigned(1)
    const kind = control >> 5 === 0 ? 7 + unsigned(1) : control >> 5
    if (kind === 1) {
      const target = pointer(control)
      const back = at
      at = target
      const found = value(depth + 1)
      at = back
      return found
    }
    const size = sizeOf(control)
    switch (kind) {
      case 2:
        return bytes(size).toString('utf8')
      case 3:
        return bytes(8).readDoubleBE()
      case 4:
        return bytes(size)
      case 5:
      case 6:
        return unsigned(size)
      case 7:
        return Object.fromEntries(
          Array.from({ length: size }, () => [String(value(depth + 1)), value(depth + 1)]),
        )
      case 8:
        return size === 4 ? bytes(4).readInt32BE() : unsigned(size)
      case 9:
      case 10:
        return big(size)
      case 11:
        return Array.from({ length: size }, () => value(depth + 1))
      case 14:
        return size === 1
      case 15:
        return bytes(4).readFloatBE()
      default:
        throw new Error(`the MaxMind database has an unknown kind of value, ${kind}`)
    }
  }

  return {
    read(offset: number): unknown {
      at = offset
      return value(0)
    },
  }
}
