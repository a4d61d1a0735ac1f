/**
 * A set of names in shared memory: 16 bytes for each, a quarter of what strings would take. It keeps a
 * hash of 64 bits; that two of a million names are taken for each other has a chance of one in 10^13.
 */
export interface FeedTable {
  slots: Uint32Array
  entries: number
}

const LOAD = 0.5

export function feedTable(names: readonly string[]): FeedTable {
  const size = 2 ** Math.ceil(Math.log2(Math.max(8, names.length / LOAD)))
  const slots = new Uint32Array(new SharedArrayBuffer(size * 8))
  let entries = 0
  for (const name of names) {
    const at = slotOf(slots, name)
    if (slots[at] !== 0 || slots[at + 1] !== 0) continue
    const [low, high] = hashOf(name)
    slots[at] = low
    slots[at + 1] = high
    entries++
  }
  return { slots, entries }
}

export function isListed({ slots, entries }: FeedTable, name: string): boolean {
  if (entries === 0) return false
  const at = slotOf(slots, name)
  return slots[at] !== 0 || slots[at + 1] !== 0
}

/** The slot of the name, or the free one where it would be. */
function slotOf(slots: Uint32Array, name: string): number {
  const [low, high] = hashOf(name)
  const mask = slots.length - 1
  let at = (low * 2) & mask
  while (slots[at] !== 0 || slots[at + 1] !== 0) {
    if (slots[at] === low && slots[at + 1] === high) return at
    at = (at + 2) & mask
  }
  return at
}

/** Two hashes of 32 bits with mixing as in MurmurHash 3; never both zero. */
function hashOf(name: string): [low: number, high: number] {
  let one = 0xdeadbeef
  let two = 0x41c6ce57
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at)
    one = Math.imul(one ^ code, 2654435761)
    two = Math.imul(two ^ code, 1597334677)
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909)
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909)
  return [one >>> 0 || 1, two >>> 0]
}
