/** A document in a ranking, best first, with its best chunk. */
export interface Ranked {
  document_id: string
  chunk_id: number
  /** From 0 to 1: the share of the query that it matches. */
  weight: number
}

export interface Fused {
  document_id: string
  chunk_id: number
  score: number
}

const SOFTNESS = 10
// Similarity counts less than matching words, so that it does not displace full-text results.
const VECTOR_WEIGHT = 0.6
/** The number of results on the first page that may come from similarity alone. */
const MAX_SIMILAR = 3
const FIRST_PAGE = 10

/**
 * Merges both rankings by reciprocal rank. Documents with all words come first, in full-text order;
 * similarity only reorders the others.
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
      const fused = others.get(document_id)
      if (fused) fused.score += share
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
  return withFallingScores([...whole, ...withTopOfFullText(rest, fullText)])
}

/** Keeps the top of the full-text ranking on the first page. */
function withTopOfFullText(ranked: readonly Fused[], fullText: readonly Ranked[]): Fused[] {
  const top = fullText.slice(0, FIRST_PAGE - MAX_SIMILAR)
  const ids = new Set(top.map(({ document_id }) => document_id))
  const isTop = ({ document_id }: Fused) => ids.has(document_id)
  const similar = ranked.filter((one) => !isTop(one)).slice(0, MAX_SIMILAR)
  const early = ranked.filter((one) => isTop(one) || similar.includes(one))
  return [...early, ...ranked.filter((one) => !early.includes(one))]
}

/** Lowers scores so that they never rise along the ranking. */
function withFallingScores(ranked: readonly Fused[]): Fused[] {
  let least = 1
  return ranked.map((one) => {
    least = Math.min(least, one.score)
    return { ...one, score: least }
  })
}
