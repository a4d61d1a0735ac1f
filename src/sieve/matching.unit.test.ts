import { expect, it } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { compares } from './matching.ts'

/** The definition of RFC 5228 §2.7.1, in exponential time. */
function matchesByDefinition(text: string, pattern: string): boolean {
  if (pattern === '') return text === ''
  const [first, rest] = [pattern[0], pattern.slice(1)]
  if (first === '*') {
    return (
      matchesByDefinition(text, rest) ||
      (text !== '' && matchesByDefinition(text.slice(1), pattern))
    )
  }
  if (first === '\\' && rest !== '') {
    return text[0] === rest[0] && matchesByDefinition(text.slice(1), rest.slice(1))
  }
  if (text === '') return false
  return (first === '?' || first === text[0]) && matchesByDefinition(text.slice(1), rest)
}

it('matches wildcards as defined, for 20,000 random patterns', () => {
  const random = seededRandom(1)
  const make = (letters: string, length: number) =>
    Array.from({ length }, () => random.pick([...letters])).join('')
  for (let count = 0; count < 20_000; count++) {
    const text = make('ab*', random.below(8))
    const pattern = make('ab*?\\', random.below(7))
    const expected = matchesByDefinition(text, pattern)
    expect(`${text} ${pattern} ${compares('matches', text, pattern)}`).toBe(
      `${text} ${pattern} ${expected}`,
    )
  }
})
