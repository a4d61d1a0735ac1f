import { ulid } from '../../../src/lib/ulid.ts'
import type { App, Client } from '../../support/app.ts'
import { opensslMissing, startOpenssl } from '../../support/openssl.ts'
import { HOSTILE } from './hostile.ts'

/** App passwords, a key and a certificate of a holder. */
export async function seedAccess(holder: Client, email: string) {
  for (const [name, scopes] of [
    ['Phone', ['imap', 'smtp']],
    [HOSTILE[0], ['imap', 'smtp', 'sieve', 'dav', 'jmap']],
  ]) {
    const answer = await holder.post('/api/v1/mailbox/app-passwords', { name, scopes })
    if (answer.status !== 201) throw new Error(answer.text)
  }
  const key = await holder.post('/api/v1/mailbox/encryption/pgp/generate', {
    name: HOSTILE[0],
    passphrase: 'a passphrase of the seed',
    expire_date: '2y',
  })
  if (key.status !== 201) throw new Error(key.text)
  if (opensslMissing) return
  const openssl = startOpenssl()
  const { certificate } = openssl.issue(email)
  openssl.stop()
  const stored = await holder.post('/api/v1/mailbox/encryption/smime/import', { certificate })
  if (stored.status !== 201) throw new Error(stored.text)
}

/** A program with access to the mailbox. */
export async function seedGrant(app: App, tenant: Client & { accountId: string }) {
  const made = await tenant.post('/api/v1/oauth/clients', {
    name: HOSTILE[1],
    redirect_uris: ['https://mail.acme.test/signed-in'],
  })
  if (made.status !== 201) throw new Error(made.text)
  await app.core.db
    .insertInto('oauth_items')
    .values({
      id: ulid(),
      kind: 'Grant',
      id_hash: 'a grant of the screens',
      client_id: made.body.data.client_id,
      email_account_id: tenant.accountId,
      scopes: ['openid', 'email', 'imap', 'smtp'],
      payload: Buffer.from('sealed'),
      expires_at: '2100-01-01T00:00:00Z',
      last_used_at: new Date().toISOString(),
      last_used_service: 'imap',
      last_used_ip: '192.0.2.7',
    })
    .execute()
}
