import type { Config } from '../config.ts'

const TIMEOUT_MS = 10_000

export interface SystemMail {
  to: readonly string[]
  subject: string
  text: string
  attachments?: readonly { filename: string; content: string; contentType: string }[]
}

/** Mail of the installation itself: alerts, reports. */
export interface Mailer {
  /** Throws `MailNotSent`, whose message says why. */
  send(mail: SystemMail): Promise<void>
}

/** Why a mail of the installation did not leave; for people who set up where such mail goes. */
export class MailNotSent extends Error {}

type Settings = Pick<
  Config,
  | 'SMTP_HOST'
  | 'SMTP_PORT'
  | 'MAIL_REINJECT_HOST'
  | 'MAIL_REINJECT_PORT'
  | 'ALERT_FROM_ADDRESS'
  | 'ADMIN_EMAIL'
  | 'SVC_MAIL_HOSTNAME'
>

export function mailer(config: Settings, timeoutMs = TIMEOUT_MS): Mailer {
  return {
    async send({ to, subject, text, attachments = [] }) {
      // Read now: a private edge may have come up since the start.
      const server = config.SMTP_HOST
        ? { host: config.SMTP_HOST, port: config.SMTP_PORT }
        : { host: config.MAIL_REINJECT_HOST, port: config.MAIL_REINJECT_PORT }
      if (!server.host) throw new MailNotSent('no mail server is configured; set SMTP_HOST')
      // Loaded when there is something to send: most daemons never do.
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        host: server.host,
        port: server.port,
        name: config.SVC_MAIL_HOSTNAME,
        // A relay inside the installation may offer STARTTLS with a certificate of its own.
        tls: { rejectUnauthorized: false },
        connectionTimeout: timeoutMs,
        greetingTimeout: timeoutMs,
        socketTimeout: timeoutMs,
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      try {
        const from =
          config.ALERT_FROM_ADDRESS ?? config.ADMIN_EMAIL ?? `mailplane@${config.SVC_MAIL_HOSTNAME}`
        await transport.sendMail({
          from,
          to: [...to],
          subject,
          text,
          attachments: [...attachments],
        })
      } catch (error) {
        throw new MailNotSent(error instanceof Error ? error.message : String(error))
      } finally {
        transport.close()
      }
    },
  }
}
