import type { App } from './app.ts'
import { startDoveadm } from './doveadm.ts'
import { startImapServer } from './imap-server.ts'

/** The mail server interfaces that logins use, with the settings to reach them. */
export async function startMailServers() {
  const imap = await startImapServer()
  const doveadm = await startDoveadm('key')
  // Without any password, the server would accept every one.
  imap.passwords.set('nobody@nowhere.test', '')
  return {
    /** The password of each e-mail address on the mail server. */
    passwords: imap.passwords,
    /** The logins that were flushed from the cache of Dovecot, in order. */
    flushed: doveadm.flushed,
    kicked: doveadm.kicked,
    env: {
      IMAP_HOST: '127.0.0.1',
      IMAP_PORT: String(imap.port),
      IMAP_TLS: 'false',
      DOVEADM_URL: doveadm.url,
      DOVEADM_API_KEY: 'key',
    },
    async stop() {
      await imap.stop()
      await doveadm.stop()
    },
  }
}

export const isSignedIn = async (holder: Awaited<ReturnType<App['session']>>) =>
  (await holder.get('/api/v1/mailbox/two-factor')).status === 200
