import type { MailServerSettings } from '../config/mail-servers.ts'
import { type FileTail, fileTail } from '../lib/file-tail.ts'

/** The mail servers whose logs operators read. */
export const LOGGED_SERVERS = ['postfix', 'dovecot', 'rspamd'] as const
export type LoggedServer = (typeof LOGGED_SERVERS)[number]

/** Bytes from the end of a log; the rest is for tools on the host. */
const MAX_LOG_BYTES = 4 * 1024 * 1024

const FILES = {
  postfix: 'MAIL_LOG_FILE',
  dovecot: 'DOVECOT_LOG_FILE',
  rspamd: 'RSPAMD_LOG_FILE',
} as const

/** Undefined when no log of the server is configured. */
export const serverLogFile = (
  settings: Pick<MailServerSettings, (typeof FILES)[LoggedServer]>,
  server: LoggedServer,
): string | undefined => settings[FILES[server]]

export const readServerLog = (path: string): Promise<FileTail> => fileTail(path, MAX_LOG_BYTES)
