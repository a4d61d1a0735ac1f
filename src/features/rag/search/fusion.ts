/** A document in a ranking, best first, with the piece of it that was found. */
export interface Ranked {
  document_id: string
  chunk_id: number
  /** How much it counts, 0 to 1: what part of the question it answers. */
  weight: number
}

export interface Fused {
  document_id: string
  chunk_id: number
  score: number
}

const SOFTNESS = 10
// Words that are really there count for more: what full text finds is not lost by adding likeness.
const VECTOR_WEIGHT = 0.6

/**
 * Both rankings as one, by the place that each gives a document. Those that have all the words come
 * first, as full text has them: likeness only moves the others.
 */
export function fuse(fullText: readonly Ranked[], vectors: readonly Ranked[]): Fused[] {
  const best = (1 + VECTOR_WEIGHT) / (SOFTNESS + 1)
  const whole: Fused[] = []
  const others = new Map<string, Fused>()
  const isWhole = new Set<string>()
  const add = (ranking: readonly Ranked[], factor: number) => {
    for (const [place, { document_id, chunk_id, weight }] of ranking.entries()) {
      if (isWhole.has(document_id)) continue
      const share = (factor * weight) / (SOFTNESS + 1 + place) / best
      const known = others.get(document_id)
      if (known) known.score += share
      else others.set(document_id, { document_id, chunk_id, score: share })
    }
  }
  for (const [place, { document_id, chunk_id, weight }] of fullText.entries()) {
    if (weight < 1) continue
    isWhole.add(document_id)
    whole.push({ document_id, chunk_id, score: (SOFTNESS + 1) / (SOFTNESS + 1 + place) })
  }
  add(fullText, 1)
  add(vectors, VECTOR_WEIGHT)
  const rest = [...others.values()].sort(
    (one, other) => other.score - one.score || (one.document_id < other.document_id ? -1 : 1),
  )
  const least = whole.at(-1)?.score ?? 1
  return [...whole, ...rest.map((one) => ({ ...one, score: Math.min(one.score, least) }))]
}
