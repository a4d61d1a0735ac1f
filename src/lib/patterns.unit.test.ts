import { expect, it } from 'vitest'
import { compilePattern, UnusablePattern } from './patterns.ts'

it.each([
  ['project\\s+x', 'About PROJECT  X', true],
  ['^secret', 'first line\nSecret one', true],
  ['(?-i)secret', 'SECRET', false],
  ['über', 'ÜBER', true],
])('matches the pattern %s against %j: %s', (source, text, expected) => {
  expect(compilePattern(source).test(text)).toBe(expected)
})

it.each([
  ['(', 'missing closing'],
  ['(a)\\1', 'escape'],
  ['(?=x)', 'syntax'],
  ['(a{1000}){1000}', 'repeat'],
  ['[ab]{900}', 'too large'],
  ['x'.repeat(1001), 'at most 1000 characters'],
])('rejects the pattern %s', (source, why) => {
  expect(() => compilePattern(source)).toThrow(UnusablePattern)
  expect(() => compilePattern(source)).toThrow(why)
})

it('matches in linear time where a backtracking engine would not', () => {
  expect(compilePattern('^(a+)+$').test(`${'a'.repeat(50_000)}!`)).toBe(false)
})
