import { isStopWord } from '../text/language.ts'

const MAX_WORDS = 16
const MAX_RARE = 6

/** A word of a question, and how the text search of each language writes it. */
export interface Word {
  text: string
  lexemes: string[]
}

/** The words of a question that say something; all of them when none does. */
export function wordsOf(query: string): string[] {
  const all = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}@._-]*/gu) ?? [])]
  const words = all.map((word) => word.replace(/[._-]+$/, ''))
  const telling = words.filter((word) => !isStopWord(word))
  return (telling.length > 0 ? telling : words).slice(0, MAX_WORDS)
}

const quoted = (lexeme: string): string => `'${lexeme.replace(/[\\']/g, '$&$&')}'`

/** A word in any of its forms, as text of a `tsquery`. */
export const anyForm = ({ lexemes }: Word): string => `(${lexemes.map(quoted).join(' | ')})`

export const anyOf = (words: readonly Word[]): string => words.map(anyForm).join(' | ')

/**
 * What to look for when not all words are found together: two of the rarer ones where there are three
 * or more. So no list of a frequent word is walked.
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
