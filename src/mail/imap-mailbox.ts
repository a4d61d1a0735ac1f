import { isIP } from 'node:net'
import type { ImapFlow } from 'imapflow'
import type { Config } from '../config/index.ts'
import { isLoopback } from '../lib/ip-ranges.ts'
import { MINUTE_MS } from '../lib/time.ts'
import type { CurrentMailServers } from './mail-servers.ts'

const CONNECT_MS = 10_000
const SILENCE_MS = MINUTE_MS

/** The IMAP server is unreachable, refused the login, or closed the connection. */
export class ImapAway extends Error {}

interface Needs {
  config: Pick<Config, 'IMAP_TLS_VERIFY'>
  mailServers: CurrentMailServers
}

/** Opens a mailbox over IMAP with the master login of the mail server. */
export async function withMailbox<Result>(
  { config, mailServers }: Needs,
  address: string,
  work: (client: ImapFlow) => Promise<Result>,
): Promise<Result> {
  const settings = mailServers.current()
  const { IMAP_HOST: host, IMAP_MASTER_USER: user, IMAP_MASTER_PASSWORD: pass } = settings
  if (!host || !user || !pass) {
    throw new ImapAway('IMAP_HOST, IMAP_MASTER_USER and IMAP_MASTER_PASSWORD are not all set')
  }
  // Loaded on first use, because most processes never connect.
  const { ImapFlow } = await import('imapflow')
  const client = new ImapFlow({
    host,
    port: settings.IMAP_PORT,
    secure: settings.IMAP_TLS === 'true',
    doSTARTTLS: settings.IMAP_TLS === 'starttls',
    ...(isIP(host) ? {} : { servername: host }),
    // A private edge has a self-signed certificate, and loopback needs no protection.
    tls: { rejectUnauthorized: config.IMAP_TLS_VERIFY && !isLoopback(host) },
    auth: { user: `${address}*${user}`, pass },
    logger: false,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableAutoIdle: true,
  })
  // An unhandled error event would end the process; the command under way rejects anyway.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    client.close()
    throw new ImapAway('the mail server cannot be reached or refuses the master login', {
      cause: error,
    })
  }
  try {
    return await work(client)
  } catch (error) {
    throw client.usable ? error : new ImapAway('the mail server hung up', { cause: error })
  } finally {
    await client.logout().catch(() => client.close())
  }
}
