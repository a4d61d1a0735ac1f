import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { encryption } from '../../src/daemons/encryption.ts'
import { PASSWORD, startApp } from './app.ts'
import { startOpenssl } from './openssl.ts'

export const API = '/api/v1/encryption/smime'
export const OWN = '/api/v1/mailbox/encryption/smime'
export const PASSPHRASE = 'correct hörse battery'
export const MAIL_PART = 'Content-Type: text/plain; charset=utf-8\r\n\r\nGrüße\r\n'

export type SmimeHost = Awaited<ReturnType<typeof startSmimeHost>>
export type CertificateHolder = Awaited<ReturnType<SmimeHost['newMailbox']>>

/** A host with two tenants, and openssl as the other side. */
export async function startSmimeHost() {
  const openssl = startOpenssl()
  const app = await startApp({ daemons: [encryption] })
  const acme = await app.tenant('acme')
  const globex = await app.tenant('globex')
  let mailboxes = 0
  return {
    app,
    openssl,
    acme,
    globex,

    /** A mailbox with a certificate, so that each test has an address with one preferred one. */
    async newMailbox(key: 'rsa' | 'ec' = 'ec', more: object = {}) {
      const email = `holder${mailboxes++}@acme.test`
      const made = await acme.post('/api/v1/mailboxes/email-accounts', {
        email,
        password: PASSWORD,
      })
      expect(made.status, made.text).toBe(201)
      const issued = openssl.issue(email, { key, ...more })
      const pkcs12 = openssl.pkcs12(issued, PASSPHRASE)
      const stored = await acme.post(`${API}/import`, { email, pkcs12, passphrase: PASSPHRASE })
      expect(stored.status, stored.text).toBe(201)
      const { account_id, fingerprint } = stored.body.data
      const holder = await app.session('mailbox', account_id)
      return { email, issued, holder, fingerprint: fingerprint as string, account_id }
    },

    /** The root that the operator trusts; an empty text trusts none. */
    trustRoot(text: string): void {
      const folder = join(app.core.config.DATA_DIR, 'smime', 'roots')
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'test.pem'), text)
    },

    async stop() {
      await app.stop()
      openssl.stop()
    },
  }
}
