import { createHmac } from 'node:crypto'
import { webhooks } from '../../src/daemons/webhooks.ts'
import { type App, type Client, startApp } from './app.ts'
import { type Received, startReceiver } from './receiver.ts'

export const ENDPOINTS = '/api/v1/webhooks/endpoints'
type Reply = Parameters<typeof startReceiver>[0]

/** An installation with webhook fan-out, its daemon, and receivers that stop with it. */
export async function startFanOut(env: Record<string, string> = {}) {
  const cleanUps: (() => Promise<unknown>)[] = []
  const app = await startApp({
    env: {
      WEBHOOK_FANOUT: 'true',
      WEBHOOK_TIMEOUT: '10',
      SVC_OUTBOUND_ALLOW: '127.0.0.1/32',
      ...env,
    },
  })
  cleanUps.push(app.stop)
  return {
    app,
    async run(other: App = app) {
      const daemon = await webhooks.start(other.core)
      let running = true
      const stop = async () => {
        if (running) await daemon.stop()
        running = false
      }
      cleanUps.push(stop)
      return { ...daemon, stop }
    },
    async receiver(reply?: Reply, where?: { host?: string; port?: number }) {
      const receiver = await startReceiver(reply, where)
      cleanUps.push(receiver.stop)
      return receiver
    },
    async stop() {
      for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
    },
  }
}

export type FanOut = Awaited<ReturnType<typeof startFanOut>>
type Tenant = Awaited<ReturnType<App['tenant']>>

export async function register(
  who: Client,
  url: string,
  more: object = {},
): Promise<{ id: string; secret: string }> {
  const answer = await who.post(ENDPOINTS, { url, ...more })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body.data
}

export const change = (tenant: Tenant, description: string) =>
  tenant.put(`/api/v1/domains/${tenant.domainId}`, { description })

export const queued = (app: App) => app.core.db.selectFrom('webhook_queue').selectAll().execute()
export const isIdle = async (app: App) => (await queued(app)).length === 0

export const eventsOf = ({ got }: { got: Received[] }) => got.map(({ json }) => json.event)

/** Verifies a signature as the Standard Webhooks specification requires. */
export function standardSignatureOf({ headers, body }: Received, key: string | Buffer): string {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}
