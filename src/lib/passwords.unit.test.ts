import { expect, it } from 'vitest'
import { passwordProblem } from './passwords.ts'

it.each([
  ['short1', 'Password must be at least 12 characters long'],
  ['123456789012', 'Password must contain letters'],
  ['пароль-без-цифр', 'Password must contain letters'],
  ['no-digits-in-here', 'Password must contain numbers'],
  ['PASSWORD1234', 'Password is too common; choose something less predictable'],
  ['Summer2026!!', 'Password is too common; choose something less predictable'],
  ['tab\there-is-1-of-them', 'Password must not contain control characters'],
  ['line\nbreak-number-1', 'Password must not contain control characters'],
  ['x1'.repeat(513), 'Password must be at most 1024 characters long'],
])('rejects the password %j', (password, problem) => {
  expect(passwordProblem(password)).toBe(problem)
})

it.each([['correct horse 7 battery'], ['Ünïcödé-pässwörd-1'], ['x1'.repeat(512)]])(
  'accepts the password %j',
  (password) => {
    expect(passwordProblem(password)).toBeUndefined()
  },
)
