import { startApp } from './app.ts'
import { startSieveServer } from './sieve-server.ts'

export const MAILBOX = '/api/v1/mailbox'

/** The API with a ManageSieve server that can misbehave, and signed-in mailbox holders. */
export async function startWithSieve(env: Record<string, string> = {}) {
  const sieve = await startSieveServer()
  const app = await startApp({ env: { ...sieve.env(), ...env } })
  const tenants = new Map<string, ReturnType<typeof app.tenant>>()
  return {
    app,
    sieve,
    /** The holder of the only mailbox of a tenant; creates the tenant when its name is new. */
    async holder(name: string) {
      const made = tenants.get(name) ?? app.tenant(name)
      tenants.set(name, made)
      const tenant = await made
      const session = await app.session('mailbox', tenant.accountId)
      return { ...session, tenant, email: tenant.email, scripts: sieve.of(tenant.email) }
    },
    async stop() {
      await app.stop()
      await sieve.stop()
    },
  }
}
