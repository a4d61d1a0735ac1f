/** A reproducible source of random choices (mulberry32). */
export function seededRandom(seed: number) {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    next,
    below,
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    isTrue: (chance: number) => next() < chance,
  }
}

export type SeededRandom = ReturnType<typeof seededRandom>
