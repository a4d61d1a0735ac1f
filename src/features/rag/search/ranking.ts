import { cosine } from '../text/quantized.ts'
import type { Found } from './full-text.repository.ts'
import type { Ranked } from './fusion.ts'
import type { Near } from './vectors.repository.ts'

/** A lower similarity is chance. */
const LEAST_LIKENESS = 0.12
/** From this similarity on, a document has the full weight. */
const GREAT_LIKENESS = 0.45

/**
 * Ranks by the number of matching words; rare words weigh more. Rarity is computed from the given chunks
 * only, so that documents of other organizations have no influence.
 */
export function byWords(found: readonly Found[], words: number): Ranked[] {
  const rarity = Array.from({ length: words }, (_, word) => {
    const having = found.filter(({ matches }) => matches[word] === '1').length
    return Math.log(1 + (found.length + 1) / (having + 1))
  })
  const whole = rarity.reduce((sum, one) => sum + one, 0)
  const scored = found.map(({ id, document_id, rank, matches }) => {
    let sum = 0
    for (let word = 0; word < words; word++) {
      if (matches[word] === '1') sum += rarity[word] as number
    }
    const weight = whole === 0 ? 1 : sum / whole
    return { document_id, chunk_id: id, weight, order: weight + rank / 10 }
  })
  return onePerDocument(scored)
}

export const byLikeness = (question: Float32Array, near: readonly Near[]): Ranked[] =>
  onePerDocument(
    near
      .map(({ id, document_id, vector }) => ({
        document_id,
        chunk_id: id,
        order: cosine(question, vector),
      }))
      .filter(({ order }) => order > LEAST_LIKENESS)
      .map((one) => ({
        ...one,
        weight: Math.min(1, (one.order - LEAST_LIKENESS) / (GREAT_LIKENESS - LEAST_LIKENESS)),
      })),
  )

function onePerDocument(scored: (Ranked & { order: number })[]): Ranked[] {
  const seen = new Set<string>()
  return scored
    .sort((one, other) => other.order - one.order || other.chunk_id - one.chunk_id)
    .filter(({ document_id }) => !seen.has(document_id) && seen.add(document_id))
}
