import { isStopWord } from '../text/language.ts'

const MAX_WORDS = 16
const MAX_RARE = 6

/** A word of a query, and its lexemes in each language. */
export interface Word {
  text: string
  lexemes: string[]
}

/** The words of a query without stop words; all words if there is no other. */
export function wordsOf(query: string): string[] {
  const all = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}@._-]*/gu) ?? [])]
  const words = all.map((word) => word.replace(/[._-]+$/, ''))
  const significant = words.filter((word) => !isStopWord(word))
  return (significant.length > 0 ? significant : words).slice(0, MAX_WORDS)
}

const quoted = (lexeme: string): string => `'${lexeme.replace(/[\\']/g, '$&$&')}'`

/** A word in any of its forms, as text of a `tsquery`. */
export const anyForm = ({ lexemes }: Word): string => `(${lexemes.map(quoted).join(' | ')})`

export const anyOf = (words: readonly Word[]): string => words.map(anyForm).join(' | ')

/**
 * The query for documents with only some of the words. With three or more words, any two of the rarer
 * ones must match, which avoids scanning the index entries of a frequent word.
 */
export function looseQuery(words: readonly Word[], frequency: (lexeme: string) => number): string {
  const rare = words
    .map((word) => ({ word, often: Math.max(...word.lexemes.map(frequency)) }))
    .sort((one, other) => one.often - other.often || other.word.text.length - one.word.text.length)
    .slice(0, MAX_RARE)
    .map(({ word }) => word)
  if (rare.length < 3) return anyOf(rare)
  const pairs = rare.flatMap((one, at) =>
    rare.slice(at + 1).map((other) => `(${anyForm(one)} & ${anyForm(other)})`),
  )
  return pairs.join(' | ')
}
