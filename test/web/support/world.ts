import { pages } from '../../../src/features/pages/index.ts'
import { type App, startApp } from '../../support/app.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { startSieveServer } from '../../support/sieve-server.ts'
import { startChromium, visitor } from './chromium.ts'
import { seed } from './seed.ts'

export type World = Awaited<ReturnType<typeof startWorld>>

/** The whole application without any rows, its own DNS, and a browser. */
export async function startEmptyWorld(more: Record<string, string> = {}) {
  const sieve = await startSieveServer()
  const dns = await startDnsServer()
  const app: App = await startApp({
    limiting: true,
    env: {
      ...sieve.env(),
      SVC_DNS_SERVERS: dns.address,
      SVC_SELF_SERVICE_KEYS: 'true',
      WEBHOOK_FANOUT: 'true',
      ...more,
    },
    features: [pages()],
  })
  const browser = await startChromium()
  return {
    app,
    browser,
    dns,
    visit: (jar?: ReadonlyMap<string, string>, options = {}) =>
      visitor(browser, app.base, jar, options),
    async stop() {
      await browser.close()
      await app.stop()
      await dns.stop()
      await sieve.stop()
    },
  }
}

/** The whole application with a seeded tenant. */
export async function startWorld(more: Record<string, string> = {}) {
  const empty = await startEmptyWorld(more)
  const { app } = empty
  const seeded = await seed(app)
  const jars = {
    dashboard: async () => (await app.session('dashboard', seeded.tenant.userId)).jar,
    operator: async (role: 'support' | 'operator' | 'admin' | 'owner' = 'owner') =>
      (await app.operator(role)).jar as Map<string, string>,
    mailbox: async () => (await app.session('mailbox', seeded.tenant.accountId)).jar,
  }
  return { ...empty, ...seeded, jars }
}
