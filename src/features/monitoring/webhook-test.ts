import { globalWebhookUrl } from '../../config/index.ts'
import type { Core } from '../../core.ts'
import { poster } from '../../outbound/post.ts'
import { VERSION } from '../../version.ts'
import { bodySignature } from '../webhooks/delivery/signature.ts'

const SECONDS = 10

export type PayloadType = 'ping' | 'alert' | 'recovery'

const EVENTS: Record<PayloadType, { event: string; data: object }> = {
  ping: { event: 'ping', data: {} },
  alert: {
    event: 'health.system.alert',
    data: { alert_type: 'test', severity: 'info', message: 'This is a test. Nothing is wrong.' },
  },
  recovery: {
    event: 'health.recovery',
    data: { service: 'test', action: 'none', success: true, automatic: false },
  },
}

interface Hook {
  url: string
  /** Set by the operator of the host, so it is exempt from the outbound guard. */
  isOwn: boolean
}

type Needs = Pick<Core, 'config' | 'db' | 'now' | 'outbound'>

/** Posts to addresses that are configured already, and to no others. */
export function webhookTest({ config, db, now, outbound }: Needs) {
  return {
    async configured(): Promise<Hook[]> {
      const own = globalWebhookUrl(config)
      const channels = await db
        .selectFrom('alert_channels')
        .select('target')
        .where('type', '=', 'webhook')
        .where('enabled', '=', true)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute()
      const hooks = channels.map(({ target }) => ({ url: target, isOwn: false }))
      const all = own === undefined ? hooks : [{ url: own, isOwn: true }, ...hooks]
      return [...new Map(all.reverse().map((hook) => [hook.url, hook])).values()].reverse()
    },

    async post({ url, isOwn }: Hook, type: PayloadType) {
      const http = poster({ timeoutSeconds: SECONDS, ...(!isOwn && { guard: outbound }) })
      const body = JSON.stringify({ ...EVENTS[type], test: true, timestamp: now().toISOString() })
      const begun = performance.now()
      const { status, error } = await http.post(
        url,
        {
          'content-type': 'application/json',
          'user-agent': `Mailplane/${VERSION}`,
          'x-webhook-source': 'mailplane-monitoring',
          ...(isOwn && { 'x-webhook-signature': bodySignature(config.WEBHOOK_SECRET, body) }),
        },
        body,
      )
      await http.close()
      return {
        url: withoutLogin(url),
        delivered: error === null,
        status_code: status === 0 ? null : status,
        error,
        response_time: Math.round(performance.now() - begun),
      }
    },
  }
}

/** An address may hold a password. */
export function withoutLogin(url: string): string {
  const shown = new URL(url)
  shown.username = ''
  shown.password = ''
  return shown.href
}
