// QR codes (ISO/IEC 18004) for the addresses of authenticator apps: bytes, error correction level L.

/** Error correction codewords of a block, and the number of blocks, by version. */
const ECC = [
  7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26,
  28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
]
const BLOCKS = [
  1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15,
  16, 17, 18, 19, 19, 20, 21, 22, 24, 25,
]
const ecc = (version: number) => ECC[version - 1] as number
const blocksOf = (version: number) => BLOCKS[version - 1] as number

const MASKS: ((x: number, y: number) => number)[] = [
  (x, y) => (x + y) % 2,
  (_, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
]

/** Modules by row, dark ones are true. Without a mask the one with the lowest penalty is taken. */
export function qrModules(text: string, mask?: number): boolean[][] {
  const bytes = [...new TextEncoder().encode(text)]
  let version = 1
  while (capacity(version) < bytes.length) {
    if (++version > 40) throw new Error('The text is too long for a QR code')
  }
  const size = version * 4 + 17
  const drawn = functionPatterns(version, size)
  const codewords = interleaved(version, dataOf(version, bytes))
  const draw = (one: number) => {
    const modules = drawn.map((row) => [...row])
    placeData(modules, codewords, MASKS[one] as (typeof MASKS)[0])
    placeFormat(modules, size, one)
    return modules as boolean[][]
  }
  if (mask !== undefined) return draw(mask)
  const all = MASKS.map((_, one) => draw(one))
  return all.reduce((best, one) => (penalty(one) < penalty(best) ? one : best))
}

const countBits = (version: number) => (version < 10 ? 8 : 16)
const dataWords = (version: number) =>
  Math.floor(rawModules(version) / 8) - ecc(version) * blocksOf(version)
const capacity = (version: number) => Math.floor(dataWords(version) - (4 + countBits(version)) / 8)

/** The modules that are left for data and error correction. */
function rawModules(version: number): number {
  const all = (16 * version + 128) * version + 64
  if (version === 1) return all
  const count = Math.floor(version / 7) + 2
  return all - (25 * count - 10) * count + 55 - (version > 6 ? 36 : 0)
}

/** Mode, length, bytes and padding. */
function dataOf(version: number, bytes: number[]): number[] {
  const bits: number[] = []
  const push = (value: number, count: number) => {
    for (let at = count - 1; at >= 0; at--) bits.push((value >> at) & 1)
  }
  push(4, 4)
  push(bytes.length, countBits(version))
  for (const byte of bytes) push(byte, 8)
  const total = dataWords(version) * 8
  push(0, Math.min(4, total - bits.length))
  push(0, -bits.length & 7)
  for (let pad = 0xec; bits.length < total; pad ^= 0xec ^ 0x11) push(pad, 8)
  return Array.from({ length: total / 8 }, (_, at) =>
    bits.slice(at * 8, at * 8 + 8).reduce((byte, bit) => byte * 2 + bit, 0),
  )
}

/** Splits the data into blocks, adds error correction, and takes a codeword of each in turn. */
function interleaved(version: number, data: number[]): number[] {
  const count = blocksOf(version)
  const short = Math.floor(data.length / count)
  const longFrom = count - (data.length % count)
  const divisor = generator(ecc(version))
  const blocks: number[][] = []
  const corrections: number[][] = []
  for (let block = 0, at = 0; block < count; block++) {
    const length = short + (block < longFrom ? 0 : 1)
    const part = data.slice(at, at + length)
    at += length
    blocks.push(part)
    corrections.push(remainder(part, divisor))
  }
  const inTurn = (parts: number[][]) =>
    Array.from({ length: Math.max(...parts.map((part) => part.length)) }, (_, at) =>
      parts.flatMap((part) => part[at] ?? []),
    ).flat()
  return [...inTurn(blocks), ...inTurn(corrections)]
}

/** Product in the field of 256 elements. */
function times(a: number, b: number): number {
  let product = 0
  for (let at = 7; at >= 0; at--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d)
    product ^= ((b >> at) & 1) * a
  }
  return product
}

function generator(degree: number): number[] {
  const result: number[] = Array.from({ length: degree }, (_, at) => Number(at === degree - 1))
  for (let step = 0, root = 1; step < degree; step++, root = times(root, 2)) {
    for (let at = 0; at < degree; at++) {
      result[at] = times(result[at] as number, root) ^ (result[at + 1] ?? 0)
    }
  }
  return result
}

function remainder(data: number[], divisor: number[]): number[] {
  const result = divisor.map(() => 0)
  for (const byte of data) {
    const factor = byte ^ (result.shift() as number)
    result.push(0)
    for (const [at, one] of divisor.entries()) {
      result[at] = (result[at] as number) ^ times(one, factor)
    }
  }
  return result
}

type Modules = (boolean | undefined)[][]

const set = (modules: Modules, x: number, y: number, dark: boolean) => {
  const row = modules[y]
  if (row && x >= 0 && x < modules.length) row[x] = dark
}

/** Everything that does not depend on the data; what is left for it is undefined. */
function functionPatterns(version: number, size: number): Modules {
  const modules: Modules = Array.from({ length: size }, () => new Array(size).fill(undefined))
  for (let at = 0; at < size; at++) {
    set(modules, 6, at, at % 2 === 0)
    set(modules, at, 6, at % 2 === 0)
  }
  const square = (x: number, y: number, radius: number, isDark: (ring: number) => boolean) => {
    for (let dy = -radius; dy <= radius; dy++) {
      for (let dx = -radius; dx <= radius; dx++) {
        set(modules, x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))))
      }
    }
  }
  const places = alignment(version, size)
  const last = places.length - 1
  for (const [i, x] of places.entries()) {
    for (const [j, y] of places.entries()) {
      const isCorner = (i === 0 && (j === 0 || j === last)) || (i === last && j === 0)
      if (!isCorner) square(x, y, 2, (ring) => ring !== 1)
    }
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const) {
    square(x, y, 4, (ring) => ring !== 2 && ring !== 4)
  }
  placeFormat(modules, size, 0)
  if (version > 6) placeVersion(modules, version, size)
  return modules
}

function alignment(version: number, size: number): number[] {
  if (version === 1) return []
  const count = Math.floor(version / 7) + 2
  const step = Math.floor((version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2
  return [6, ...Array.from({ length: count - 1 }, (_, at) => size - 7 - (count - 2 - at) * step)]
}

/** The bits of a value followed by their check bits. */
function checked(value: number, bits: number, polynomial: number): number {
  let rest = value
  for (let step = 0; step < bits; step++) rest = (rest << 1) ^ ((rest >> (bits - 1)) * polynomial)
  return (value << bits) | rest
}

/** The level, which is 1 for L, and the mask, twice. */
function placeFormat(modules: Modules, size: number, mask: number): void {
  const bits = checked((1 << 3) | mask, 10, 0x537) ^ 0x5412
  for (let at = 0; at < 15; at++) {
    const dark = ((bits >> at) & 1) === 1
    if (at < 8) set(modules, size - 1 - at, 8, dark)
    else set(modules, 8, size - 15 + at, dark)
    if (at < 6) set(modules, 8, at, dark)
    else if (at < 8) set(modules, 8, at + 1, dark)
    else set(modules, at === 8 ? 7 : 14 - at, 8, dark)
  }
  set(modules, 8, size - 8, true)
}

function placeVersion(modules: Modules, version: number, size: number): void {
  const bits = checked(version, 12, 0x1f25)
  for (let at = 0; at < 18; at++) {
    const dark = ((bits >> at) & 1) === 1
    const a = size - 11 + (at % 3)
    const b = Math.floor(at / 3)
    set(modules, a, b, dark)
    set(modules, b, a, dark)
  }
}

/** From the lower right corner in columns of two, up and down in turn. */
function placeData(modules: Modules, codewords: number[], mask: (typeof MASKS)[0]): void {
  const size = modules.length
  let bit = 0
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5
    for (let step = 0; step < size; step++) {
      for (const x of [right, right - 1]) {
        const y = ((right + 1) & 2) === 0 ? size - 1 - step : step
        if (modules[y]?.[x] !== undefined) continue
        const one = ((codewords[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1
        set(modules, x, y, (one === 1) !== (mask(x, y) === 0))
        bit++
      }
    }
  }
}

/** Long runs of one colour and squares of it are hard to read. */
function penalty(modules: boolean[][]): number {
  let sum = 0
  for (const rows of [modules, modules.map((_, x) => modules.map((row) => row[x]))]) {
    for (const row of rows) {
      for (const { length } of row
        .map(Number)
        .join('')
        .match(/0{5,}|1{5,}/g) ?? []) {
        sum += length - 2
      }
    }
  }
  for (const [y, row] of modules.entries()) {
    for (const [x, dark] of row.entries()) {
      const next = modules[y + 1]
      if (row[x + 1] === dark && next?.[x] === dark && next[x + 1] === dark) sum += 3
    }
  }
  return sum
}
