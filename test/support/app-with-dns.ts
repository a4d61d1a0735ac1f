import { type App, startApp } from './app.ts'
import { type DnsServer, startDnsServer } from './dns-server.ts'
import { orStop } from './or-stop.ts'

export interface AppWithDns {
  app: App
  dns: DnsServer
  stop(): Promise<void>
}

/** Starts the API with a DNS server on loopback as its only resolver. */
export async function startAppWithDns(env: Record<string, string> = {}): Promise<AppWithDns> {
  const dns = await startDnsServer()
  const app = await orStop(
    startApp({ env: { SVC_DNS_SERVERS: dns.address, SVC_DNS_TIMEOUT: '1', ...env } }),
    dns.stop,
  )
  return {
    app,
    dns,
    async stop() {
      await app.stop()
      await dns.stop()
    },
  }
}
