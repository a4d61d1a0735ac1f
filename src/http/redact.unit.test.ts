import { expect, it } from 'vitest'
import { redact } from './redact.ts'

it.each([
  ['password'],
  ['admin_password'],
  ['new_password'],
  ['Current-Password'],
  ['token'],
  ['admin_token'],
  ['csrfToken'],
  ['secret'],
  ['signing_secret'],
  ['api_key'],
  ['apiKey'],
  ['X-API-Key'],
  ['Authorization'],
  ['private_key'],
  ['privateKey'],
  ['two_factor_code'],
  ['backup_codes'],
  ['cookie'],
  ['smtp_credentials'],
])('redacts the field %s at any depth and of any type', (name) => {
  const marked = { [name]: '[redacted]' }
  for (const value of ['hunter2', 7, null, ['hunter2'], { inner: 'hunter2' }]) {
    const body = { [name]: value }
    expect(redact(body)).toEqual(marked)
    expect(redact([{ a: { b: [body] } }])).toEqual([{ a: { b: [marked] } }])
  }
})

it('redaction keeps all other fields and does not change the original', () => {
  const body = { reason: 'spam', key: 1, nested: [{ email: 'a@b.test', off: null }], secret: 'x' }
  expect(redact(body)).toEqual({ ...body, secret: '[redacted]' })
  expect(body.secret).toBe('x')
  for (const plain of [null, 7, 'text', true, undefined]) expect(redact(plain)).toBe(plain)
})
