import type { App } from './app.ts'
import { startDoveadm } from './doveadm.ts'
import { startImapServer } from './imap-server.ts'

/** As much of a mail server as the API talks to about logins, with the settings that lead there. */
export async function startMailServers() {
  const imap = await startImapServer()
  const doveadm = await startDoveadm('key')
  // Without any, every password would be right.
  imap.passwords.set('nobody@nowhere.test', '')
  return {
    /** What the mail server takes for the password of an address. */
    passwords: imap.passwords,
    /** The logins that Dovecot was told to forget, in order. */
    flushed: doveadm.flushed,
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
