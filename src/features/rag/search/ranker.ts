import type { Db } from '../../../database/database.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import type { Embedder, Mode } from '../embedding/embedder.ts'
import { maskOf, signatureOf } from '../text/quantized.ts'
import type { Filter } from './filter.ts'
import * as fullText from './full-text.repository.ts'
import { type Fused, fuse } from './fusion.ts'
import { byLikeness, byWords } from './ranking.ts'
import { nearest } from './vectors.repository.ts'
import { anyOf, looseQuery, wordsOf } from './words.ts'

const MAX_FOUND = 1000
const MAX_LOOSE = 2000
const MAX_NEAR = 200
const MAX_RANKED = 200
// With fewer strict matches, documents with only some of the words are searched too.
const ENOUGH = 10
const FREQUENCIES_MS = MINUTE_MS

export interface Ranking {
  fused: Fused[]
  /** The words to highlight in snippets, as text of a `tsquery`. */
  highlighted: string
  mode: Mode | 'full_text'
}

/** Ranks documents for a query by full text, and by vector similarity if there is an embedder. */
export function ranker(db: Db) {
  const frequencies = cachedFrequencies(db)

  async function byFullText(filter: Filter, query: string) {
    const texts = wordsOf(query)
    const { words, whole } = await fullText.parseQuery(db, filter.organization_id, query, texts)
    const highlighted = anyOf(words)
    const strict = whole === '' ? [] : await fullText.find(db, filter, whole, words, MAX_FOUND)
    const ranked = byWords(strict, words.length)
    if (ranked.length >= ENOUGH || words.length === 0) return { ranked, highlighted }
    const shares = await frequencies()
    const loose = looseQuery(words, (lexeme) => shares.get(lexeme) ?? 0)
    const partial = await fullText.find(db, filter, loose, words, MAX_LOOSE)
    const seen = new Set(ranked.map(({ document_id }) => document_id))
    const more = byWords(partial, words.length).filter(({ document_id }) => !seen.has(document_id))
    return { ranked: [...ranked, ...more], highlighted }
  }

  async function byVectors(filter: Filter, query: string, embedder: Embedder) {
    const [question] = await embedder.embed([query])
    if (!question?.some((value) => value !== 0)) return []
    const signature = { bits: signatureOf(question), mask: maskOf(question) }
    return byLikeness(question, await nearest(db, filter, embedder.model, signature, MAX_NEAR))
  }

  return async (filter: Filter, query: string, embedder?: Embedder): Promise<Ranking> => {
    const [{ ranked, highlighted }, near] = await Promise.all([
      byFullText(filter, query),
      embedder ? byVectors(filter, query, embedder) : [],
    ])
    return {
      fused: fuse(ranked.slice(0, MAX_RANKED), near),
      highlighted,
      mode: embedder?.mode ?? 'full_text',
    }
  }
}

/** Cached, because they change slowly and only choose the words of the loose query. */
function cachedFrequencies(db: Db) {
  let cached: { until: number; values: Promise<Map<string, number>> } | undefined
  return () => {
    if (!cached || cached.until < Date.now()) {
      cached = { until: Date.now() + FREQUENCIES_MS, values: fullText.frequencies(db) }
      cached.values.catch(() => {
        cached = undefined
      })
    }
    return cached.values
  }
}
