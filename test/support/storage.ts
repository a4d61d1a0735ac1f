import { sql } from 'kysely'
import { storage } from '../../src/daemons/storage.ts'
import { type App, startApp } from './app.ts'
import { startDoveadm } from './doveadm.ts'
import { waitFor } from './wait.ts'

/** The service that follows usage, for tests that start another one. */
export { storage }

export const PATH = '/api/v1/storage'
export const MIB = 1024 ** 2

export type StorageApp = Awaited<ReturnType<typeof startStorageApp>>

/** Starts an app with an answering doveadm service, two tenants and an operator. */
export async function startStorageApp() {
  const doveadm = await startDoveadm('key')
  const env = { DOVEADM_URL: doveadm.url, DOVEADM_API_KEY: 'key' }
  const app = await startApp({ env, daemons: [storage] })
  return {
    app,
    doveadm,
    acme: await app.tenant('acme'),
    globex: await app.tenant('globex'),
    admin: await app.operator('admin'),
    async stop() {
      await app.stop()
      await doveadm.stop()
    },
  }
}

/** Writes usage like the quota clone plugin of Dovecot. */
export const countUsage = ({ core }: App, email: string, bytes: number, messages: number) =>
  sql`insert into edge.quota_usage (username, bytes, messages) values (${email}, ${bytes}, ${messages})
    on conflict (username) do update set bytes = excluded.bytes, messages = excluded.messages`.execute(
    core.db,
  )

/** Waits until all written usage is part of the sums. */
export const usageIsSummedUp = ({ core }: App) =>
  waitFor(
    async () => (await core.db.selectFrom('storage_pending').selectAll().execute()).length === 0,
  )
