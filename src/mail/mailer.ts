import { readFile } from 'node:fs/promises'
import type { Config } from '../config/index.ts'
import type { CurrentMailServers } from './mail-servers.ts'

const TIMEOUT_MS = 10_000

interface SystemMail {
  to: readonly string[]
  /** The name beside the address of the sender. */
  fromName?: string | undefined
  subject: string
  text: string
  attachments?: readonly { filename: string; content: string; contentType: string }[]
}

/** Sends mail of the installation itself, such as alerts and reports. */
export interface Mailer {
  /** Throws `MailNotSent` with the reason. Returns the Message-ID without its angle brackets. */
  send(mail: SystemMail): Promise<string>
  /** The server that the next mail goes to. */
  server(): SystemMailServer
}

export interface SystemMailServer {
  /** Null when no server is configured. */
  host: string | null
  port: number
  tls: Config['SMTP_TLS']
  user: string | null
}

/** The message is the reason, written for the operator who configures the mail server. */
export class MailNotSent extends Error {}

type Settings = Pick<
  Config,
  | 'SMTP_HOST'
  | 'SMTP_PORT'
  | 'SMTP_TLS'
  | 'SMTP_TLS_VERIFY'
  | 'SMTP_USER'
  | 'SMTP_PASSWORD'
  | 'SMTP_PASSWORD_FILE'
  | 'ALERT_FROM_ADDRESS'
  | 'ADMIN_EMAIL'
  | 'SVC_MAIL_HOSTNAME'
>

export function mailer(
  config: Settings,
  mailServers: CurrentMailServers,
  timeoutMs = TIMEOUT_MS,
): Mailer {
  const server = () => serverOf(config, mailServers)
  return {
    server,
    async send({ to, fromName, subject, text, attachments = [] }) {
      const { host, port, tls, user } = server()
      if (host === null) throw new MailNotSent('no mail server is configured; set SMTP_HOST')
      const auth = user === null ? undefined : { user, pass: await passwordOf(config) }
      // Loaded on first use, because most daemons never send mail.
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        host,
        port,
        ...securityOf(tls, auth !== undefined, config.SMTP_TLS_VERIFY),
        ...(auth && { auth }),
        name: config.SVC_MAIL_HOSTNAME,
        connectionTimeout: timeoutMs,
        greetingTimeout: timeoutMs,
        socketTimeout: timeoutMs,
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      try {
        const from =
          config.ALERT_FROM_ADDRESS ?? config.ADMIN_EMAIL ?? `mailplane@${config.SVC_MAIL_HOSTNAME}`
        const { messageId } = await transport.sendMail({
          from: fromName === undefined ? from : { name: fromName, address: from },
          to: [...to],
          subject,
          text,
          attachments: [...attachments],
        })
        return messageId.replace(/^<|>$/g, '')
      } catch (error) {
        throw new MailNotSent(error instanceof Error ? error.message : String(error))
      } finally {
        transport.close()
      }
    },
  }
}

function serverOf(config: Settings, mailServers: CurrentMailServers): SystemMailServer {
  const { SMTP_HOST, SMTP_PORT, SMTP_TLS, SMTP_USER } = config
  if (SMTP_HOST) return { host: SMTP_HOST, port: SMTP_PORT, tls: SMTP_TLS, user: SMTP_USER ?? null }
  const { MAIL_REINJECT_HOST, MAIL_REINJECT_PORT } = mailServers.current()
  const host = MAIL_REINJECT_HOST ?? null
  return { host, port: MAIL_REINJECT_PORT, tls: 'opportunistic', user: null }
}

/**
 * A login is never sent in the clear by default: a server that offers no STARTTLS is refused. Without
 * a login, opportunistic TLS accepts any certificate, because the alternative is no encryption.
 */
function securityOf(tls: SystemMailServer['tls'], hasLogin: boolean, verify: boolean) {
  const isRequired = tls === 'starttls' || (tls === 'opportunistic' && hasLogin)
  return {
    secure: tls === 'true',
    requireTLS: isRequired,
    ignoreTLS: tls === 'false',
    tls: { rejectUnauthorized: verify && (isRequired || tls === 'true') },
  }
}

/** Read for each mail, so that a new password in the file needs no restart. */
async function passwordOf({ SMTP_PASSWORD, SMTP_PASSWORD_FILE }: Settings): Promise<string> {
  if (SMTP_PASSWORD_FILE === undefined) return SMTP_PASSWORD ?? ''
  try {
    return (await readFile(SMTP_PASSWORD_FILE, 'utf8')).replace(/\r?\n$/, '')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new MailNotSent(`SMTP_PASSWORD_FILE cannot be read (${code})`)
  }
}
