import { expect, it } from 'vitest'
import { hashPassword, passwordMatches, passwordProblem } from './passwords.ts'

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
])('refuses %j', (password, problem) => {
  expect(passwordProblem(password)).toBe(problem)
})

it.each([['correct horse 7 battery'], ['Ünïcödé-pässwörd-1'], ['x1'.repeat(512)]])(
  'takes %j',
  (password) => {
    expect(passwordProblem(password)).toBeUndefined()
  },
)

it('verifies what it hashed, and nobody against nothing', async () => {
  const hash = await hashPassword('a-long-passphrase-1')
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(await passwordMatches('a-long-passphrase-1', hash)).toBe(true)
  expect(await passwordMatches('a-long-passphrase-2', hash)).toBe(false)
  expect(await passwordMatches('a-long-passphrase-1', undefined)).toBe(false)
})
