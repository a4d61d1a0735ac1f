import { describe, expect, it } from 'vitest'
import { redact } from './redact.ts'

describe('redaction', () => {
  it.each([
    'password',
    'current_password',
    'new_password',
    'adminPassword',
    'ADMIN_PASSWORD',
    'secret',
    'signing_secret',
    'webhook_secret',
    'private_key',
    'PrivateKey',
    'private-key',
    'token',
    'admin_token',
    'api_key',
    'X-API-Key',
    'authorization',
    'two_factor_code',
    'backup_codes',
    'passphrase',
  ])('hides %s, at any depth', (name) => {
    const hidden = JSON.stringify(
      redact({ [name]: 'hunter2', list: [{ deep: { [name]: ['hunter2'] } }] }),
    )
    expect(hidden).not.toContain('hunter2')
    expect(hidden.match(/\[redacted\]/g)).toHaveLength(2)
  })

  it('leaves everything else as it is', () => {
    const body = { email: 'a@b.test', role: 'owner', keys: 3, tags: ['x', null], reason: 'pass' }
    expect(redact(body)).toEqual(body)
  })
})
