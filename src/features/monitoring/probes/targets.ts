import { sql } from 'kysely'
import type { MailServerSettings } from '../../../config/mail-servers.ts'
import type { Core } from '../../../core.ts'
import { stuckDay } from '../../../hosting/past-days.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { within } from '../../../lib/timeout.ts'
import { reachable } from '../heartbeat.ts'
import { type DaemonLife, daemonLives } from '../heartbeats.repository.ts'
import { pingClamd } from './clamd.ts'
import { greeting } from './greeting.ts'
import { httpAnswer } from './http-answer.ts'

export const PATIENCE_MS = 3000
/** Days of the mail log move within minutes, and some days later when ClickHouse was away. */
const LATE_DAYS = 2

/** A service and its probe, which throws the reason when the service does not work. */
export interface Target {
  name: string
  protocol: string
  critical: boolean
  probe(): Promise<void>
}

type Needs = Pick<Core, 'config' | 'db' | 'mailServers' | 'now' | 'redis'>

/** The parts of this installation whose location is configured. */
export async function targetsOf(core: Needs): Promise<Target[]> {
  const lives = await within(PATIENCE_MS, daemonLives(core.db))
  return [...stores(core), ...mailServerTargets(core.mailServers.current()), ...daemons(lives)]
}

/** Probes one service now. A stored state may be older than a repair. */
export async function answersNow(core: Needs, name: string): Promise<boolean> {
  const target = (await targetsOf(core)).find((one) => one.name === name)
  try {
    await target?.probe()
    return target !== undefined
  } catch {
    return false
  }
}

function stores(needs: Needs): Target[] {
  const { config, db, redis } = needs
  const postgresql = {
    name: 'postgresql',
    protocol: 'postgresql',
    critical: true,
    probe: async () => void (await within(PATIENCE_MS, sql`select 1`.execute(db))),
  }
  const targets: Target[] = [postgresql]
  if (redis) {
    const ping = async () => (await redis.connection()).ping()
    const probe = async () => void (await within(PATIENCE_MS, ping()))
    targets.push({ name: 'redis', protocol: 'redis', critical: false, probe })
  }
  const url = config.MAIL_LOG_CLICKHOUSE_URL
  if (url) {
    const probe = () => probeClickHouse(needs, url)
    targets.push({ name: 'clickhouse', protocol: 'http', critical: false, probe })
  }
  return targets
}

/** Past days of the mail log must be readable, and more of them must move there. */
async function probeClickHouse({ config, db, now }: Needs, url: string): Promise<void> {
  await httpAnswer(new URL('/ping', new URL(url).origin).href, { patienceMs: PATIENCE_MS })
  const dueDays = config.MAIL_LOG_CLICKHOUSE_AFTER_DAYS + LATE_DAYS
  const late = new Date(now().getTime() - dueDays * DAY_MS)
  const day = await within(PATIENCE_MS, stuckDay(db, late, now()))
  if (day !== undefined) throw new Error(`${day} of the mail log does not move to ClickHouse`)
}

function mailServerTargets(settings: MailServerSettings): Target[] {
  const targets: Target[] = []
  const add = (name: string, protocol: string, critical: boolean, probe: Target['probe']) =>
    targets.push({ name, protocol, critical, probe })

  const smtp = settings.MONITOR_SMTP_HOST
    ? { host: settings.MONITOR_SMTP_HOST, port: settings.MONITOR_SMTP_PORT }
    : { host: settings.MAIL_REINJECT_HOST, port: settings.MAIL_REINJECT_PORT }
  const { host } = smtp
  if (host) {
    const server = { ...smtp, host, expects: /^220 .*\r\n/m, goodbye: 'QUIT\r\n' }
    add('postfix', 'smtp', true, () => greeting(server, PATIENCE_MS))
  }

  const imapHost = settings.IMAP_HOST
  if (imapHost) {
    const server = {
      host: imapHost,
      port: settings.IMAP_PORT,
      tls: settings.IMAP_TLS === 'true',
      expects: /^\* (OK|PREAUTH)\b.*\r\n/,
      goodbye: 'a LOGOUT\r\n',
    }
    add('dovecot', 'imap', true, () => greeting(server, PATIENCE_MS))
  }

  const sieveHost = settings.SIEVE_HOST ?? imapHost
  if (sieveHost) {
    const server = {
      host: sieveHost,
      port: settings.SIEVE_PORT,
      // RFC 5804 §1.2: capabilities first, then OK.
      expects: /^OK\b.*\r\n/m,
      goodbye: 'LOGOUT\r\n',
    }
    add('managesieve', 'managesieve', false, () => greeting(server, PATIENCE_MS))
  }

  const { DOVEADM_URL: doveadm, DOVEADM_API_KEY: key = '' } = settings
  if (doveadm) {
    const authorization = `X-Dovecot-API ${Buffer.from(key).toString('base64')}`
    const url = new URL('/doveadm/v1', doveadm).href
    add('doveadm', 'http', false, async () => {
      await httpAnswer(url, { patienceMs: PATIENCE_MS, headers: { authorization } })
    })
  }

  const rspamd = settings.MONITOR_RSPAMD_URL
  if (rspamd) {
    const url = new URL('/ping', rspamd).href
    add('rspamd', 'http', true, async () => {
      const answer = await httpAnswer(url, { patienceMs: PATIENCE_MS })
      if (!answer.startsWith('pong')) throw new Error('answered, but not with pong')
    })
  }

  const clamd = settings.MONITOR_CLAMD
  if (clamd) add('clamd', 'clamd', false, () => pingClamd(clamd, PATIENCE_MS))
  return targets
}

/** Daemons of one process share a URL, which is probed once for all of them. */
function daemons(lives: readonly DaemonLife[]): Target[] {
  const asked = new Map<string, Promise<unknown>>()
  const ask = (url: string) => {
    const asking =
      asked.get(url) ??
      httpAnswer(url, { patienceMs: PATIENCE_MS }).catch((error) => {
        asked.delete(url)
        throw error
      })
    asked.set(url, asking)
    return asking
  }
  return lives.map(({ name, address, host, seen_at }) => ({
    name,
    protocol: 'http',
    critical: name === 'api',
    async probe() {
      if (address === null) throw new Error(`no sign of life since ${seen_at}`)
      await ask(`${reachable(address, host)}/health`)
    },
  }))
}
