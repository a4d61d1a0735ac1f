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

/** Both rankings as one, by the place that each gives a document. */
export function fuse(fullText: readonly Ranked[], vectors: readonly Ranked[]): Fused[] {
  const best = (1 + (vectors.length > 0 ? VECTOR_WEIGHT : 0)) / (SOFTNESS + 1)
  const fused = new Map<string, Fused>()
  const add = (ranking: readonly Ranked[], factor: number) => {
    for (const [place, { document_id, chunk_id, weight }] of ranking.entries()) {
      const share = (factor * weight) / (SOFTNESS + 1 + place) / best
      const known = fused.get(document_id)
      if (known) known.score += share
      else fused.set(document_id, { document_id, chunk_id, score: share })
    }
  }
  add(fullText, 1)
  add(vectors, VECTOR_WEIGHT)
  return [...fused.values()].sort(
    (one, other) => other.score - one.score || (one.document_id < other.document_id ? -1 : 1),
  )
}
