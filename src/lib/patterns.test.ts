import { expect, it } from 'vitest'
import { compilePattern, UnusablePattern } from './patterns.ts'

it.each([
  ['project\\s+x', 'About PROJECT  X', true],
  ['^secret', 'first line\nSecret one', true],
  ['(?-i)secret', 'SECRET', false],
  ['über', 'ÜBER', true],
])('%s on %s: %s', (source, text, found) => {
  expect(compilePattern(source).test(text)).toBe(found)
})

it.each([
  ['(', 'missing closing'],
  ['(a)\\1', 'escape'],
  ['(?=x)', 'syntax'],
  ['(a{1000}){1000}', 'repeat'],
  ['[ab]{900}', 'too large'],
  ['x'.repeat(1001), 'at most 1000 characters'],
])('refuses %s', (source, why) => {
  expect(() => compilePattern(source)).toThrow(UnusablePattern)
  expect(() => compilePattern(source)).toThrow(why)
})

it('does not get stuck where a backtracking engine would', () => {
  expect(compilePattern('^(a+)+$').test(`${'a'.repeat(50_000)}!`)).toBe(false)
})
