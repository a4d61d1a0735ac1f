import { resolve } from 'node:path'
import { archiveVariables, checkArchive } from './archive.ts'
import { backupVariables, checkBackups } from './backups.ts'
import { calendarVariables } from './calendars.ts'
import { certificateVariables } from './certificates.ts'
import * as env from './env.ts'
import { jmapVariables } from './jmap.ts'
import { edgeVariables, mailVariables } from './mail.ts'
import { type MailServerSettings, mailServerVariables, readMailServers } from './mail-servers.ts'
import { migrationVariables } from './migration.ts'
import { oauthVariables } from './oauth.ts'
import { operationsVariables } from './operations.ts'
import { ragVariables } from './rag.ts'
import { policyVariables, rateLimitVariables } from './rate-limits.ts'
import { reputationVariables } from './reputation.ts'
import { sendingVariables } from './sending.ts'
import { DEVELOPMENT_PORT, serverVariables } from './server.ts'
import { trackingVariables } from './tracking.ts'
import { urlProtectionVariables } from './url-protection.ts'
import { webhookVariables } from './webhooks.ts'

const ownVariables = {
  ...serverVariables,
  ...mailVariables,
  ...edgeVariables,
  ...policyVariables,
  ...rateLimitVariables,
  ...reputationVariables,
  ...trackingVariables,
  ...certificateVariables,
  ...webhookVariables,
  ...migrationVariables,
  ...oauthVariables,
  ...ragVariables,
  ...calendarVariables,
  ...sendingVariables,
  ...jmapVariables,
  ...operationsVariables,
  ...backupVariables,
  ...archiveVariables,
  ...urlProtectionVariables,
} as const

/** Every environment variable, once. */
export const variables = { ...ownVariables, ...mailServerVariables } as const

export interface Config
  extends Readonly<ReturnType<typeof env.readVariables<typeof ownVariables>>> {
  /** The mail servers that the operator configured; `Core.mailServers` adds a private edge. */
  readonly mailServers: Partial<MailServerSettings>
}
export type Edition = Config['SVC_EDITION']

export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const values = env.readVariables(ownVariables, environment)
  const key = values.SVC_SECRET_KEY
  if (key !== undefined && key.length < 32) {
    throw new env.InvalidVariable('SVC_SECRET_KEY', '32 characters or more', '…')
  }
  const warning = values.RATE_LIMIT_WARNING_THRESHOLD
  if (warning >= values.RATE_LIMIT_CRITICAL_THRESHOLD) {
    const expected = 'below RATE_LIMIT_CRITICAL_THRESHOLD'
    throw new env.InvalidVariable('RATE_LIMIT_WARNING_THRESHOLD', expected, String(warning))
  }
  if (values.TRACKING_ENABLED && values.SVC_PUBLIC_URL === undefined) {
    const expected = 'false unless SVC_PUBLIC_URL is set, because links in tracked mail lead there'
    throw new env.InvalidVariable('TRACKING_ENABLED', expected, 'true')
  }
  checkSmtpLogin(values)
  checkArchive(values)
  checkBackups(values)
  return {
    ...values,
    DATA_DIR: resolve(values.DATA_DIR),
    mailServers: readMailServers(environment, values.POSTFIX_LOG_FILE),
  }
}

type SmtpLogin = Pick<Config, 'SMTP_HOST' | 'SMTP_USER' | 'SMTP_PASSWORD' | 'SMTP_PASSWORD_FILE'>

/** A login needs a server and exactly one password; the edge takes system mail without a login. */
function checkSmtpLogin(login: SmtpLogin): void {
  const { SMTP_HOST, SMTP_USER, SMTP_PASSWORD, SMTP_PASSWORD_FILE } = login
  const refuse = (name: string, expected: string) => {
    throw new env.InvalidVariable(name, expected, '…')
  }
  if (SMTP_PASSWORD !== undefined && SMTP_PASSWORD_FILE !== undefined) {
    refuse('SMTP_PASSWORD', 'unset when SMTP_PASSWORD_FILE is set')
  }
  const hasPassword = SMTP_PASSWORD !== undefined || SMTP_PASSWORD_FILE !== undefined
  if (SMTP_USER === undefined && hasPassword) refuse('SMTP_PASSWORD', 'set together with SMTP_USER')
  if (SMTP_USER === undefined) return
  if (SMTP_HOST === undefined) refuse('SMTP_USER', 'set together with SMTP_HOST')
  if (!hasPassword) refuse('SMTP_USER', 'set together with SMTP_PASSWORD or SMTP_PASSWORD_FILE')
}

/** The URL that receives every event; undefined when none is configured. */
export const globalWebhookUrl = ({ WEBHOOK_URL, WEBHOOK_URLS }: Config): string | undefined =>
  WEBHOOK_URL ?? WEBHOOK_URLS[0]

/** The URL under which recipients and browsers reach this service, without a trailing slash. */
export const publicUrl = ({ SVC_PUBLIC_URL, HOST, PORT }: Config): string =>
  (SVC_PUBLIC_URL ?? `http://${HOST}:${PORT ?? DEVELOPMENT_PORT}`).replace(/\/+$/, '')
