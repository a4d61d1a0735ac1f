import { isIP } from 'node:net'
import { ImapFlow } from 'imapflow'
import type { Config } from '../config.ts'

const CONNECT_MS = 10_000
const SILENCE_MS = 60_000

/** Nobody there, a refused login, or a connection that broke. */
export class ImapAway extends Error {}

type Settings = Pick<
  Config,
  | 'IMAP_HOST'
  | 'IMAP_PORT'
  | 'IMAP_TLS'
  | 'IMAP_TLS_VERIFY'
  | 'IMAP_MASTER_USER'
  | 'IMAP_MASTER_PASSWORD'
>

/** Looks into a mailbox in the name of its holder, with the master login of the mail server. */
export async function withMailbox<Result>(
  config: Settings,
  address: string,
  work: (client: ImapFlow) => Promise<Result>,
): Promise<Result> {
  const { IMAP_HOST: host, IMAP_MASTER_USER: user, IMAP_MASTER_PASSWORD: pass } = config
  if (!host || !user || !pass) {
    throw new ImapAway('IMAP_HOST, IMAP_MASTER_USER and IMAP_MASTER_PASSWORD are not all set')
  }
  const client = new ImapFlow({
    host,
    port: config.IMAP_PORT,
    secure: config.IMAP_TLS === 'true',
    doSTARTTLS: config.IMAP_TLS === 'starttls',
    ...(isIP(host) ? {} : { servername: host }),
    // On loopback nobody stands in between, and private servers have certificates of their own.
    tls: { rejectUnauthorized: config.IMAP_TLS_VERIFY && !isLoopback(host) },
    auth: { user: `${address}*${user}`, pass },
    logger: false,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableAutoIdle: true,
  })
  // Whatever was under way fails too, and tells more.
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

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || /^127\./.test(host)
