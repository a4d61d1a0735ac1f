import { expect, it } from 'vitest'
import { passwordHashing } from './password-hashing.ts'

const passwords = passwordHashing('standard')

it('hashes passwords with argon2id at the recommended cost', async () => {
  const hash = await passwords.hash('a-long-passphrase-1')
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
})

it('hashes SMTP secrets with bcrypt at cost 10', async () => {
  expect(await passwords.hashSmtpSecret('a-long-passphrase-1')).toMatch(/^\$2b\$10\$/)
})

it('accepts only the password that was hashed', async () => {
  const hash = await passwords.hash('a-long-passphrase-1')
  expect(await passwords.matches('a-long-passphrase-1', hash)).toBe(true)
  expect(await passwords.matches('a-long-passphrase-2', hash)).toBe(false)
})

it('rejects every password when there is no stored hash', async () => {
  expect(await passwords.matches('a-long-passphrase-1', undefined)).toBe(false)
  const decoy = 'the password of an account that does not exist'
  expect(await passwords.matches(decoy, undefined)).toBe(false)
})

it('verifies a hash of any cost', async () => {
  const hash = await passwordHashing('lowest').hash('a-long-passphrase-1')
  expect(await passwords.matches('a-long-passphrase-1', hash)).toBe(true)
})
