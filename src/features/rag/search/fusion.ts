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
/** So many of a first page may come from likeness alone while words have found something, too. */
const STRANGERS = 3
const FIRST_PAGE = 10

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
  return falling([...whole, ...keepingPlaces(rest, fullText)])
}

/** What full text has at the top stays on the first page, whatever is alike. */
function keepingPlaces(ranked: readonly Fused[], fullText: readonly Ranked[]): Fused[] {
  const top = fullText.slice(0, FIRST_PAGE - STRANGERS)
  const names = new Set(top.map(({ document_id }) => document_id))
  const isKept = ({ document_id }: Fused) => names.has(document_id)
  const strangers = ranked.filter((one) => !isKept(one)).slice(0, STRANGERS)
  const early = ranked.filter((one) => isKept(one) || strangers.includes(one))
  return [...early, ...ranked.filter((one) => !early.includes(one))]
}

/** A place further back never has the higher score. */
function falling(ranked: readonly Fused[]): Fused[] {
  let least = 1
  return ranked.map((one) => {
    least = Math.min(least, one.score)
    return { ...one, score: least }
  })
}
