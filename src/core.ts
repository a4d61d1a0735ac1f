import { type Access, startAccess } from './access/access.ts'
import type { Caller } from './access/caller.ts'
import { type Config, globalWebhookUrl } from './config.ts'
import { keptSecret } from './database/data-dir.ts'
import { type Db, openDatabase, type Target, type Tx } from './database/database.ts'
import { type Feed, type Handlers, listen } from './database/listen.ts'
import { verifyRootKey } from './database/root-key.ts'
import { type Events, events } from './events/events.ts'
import { type Vault, vault } from './lib/vault.ts'
import type { Log } from './log.ts'
import { type AuthCache, authCache } from './mail/auth-cache.ts'
import { dnsClient, type WithDns } from './mail/dns.ts'
import { type ImapLogin, imapLogin } from './mail/imap-login.ts'
import { type Reinject, reinject } from './mail/reinject.ts'

/** What is made once and handed to all. */
export interface Core {
  config: Config
  log: Log
  db: Db
  now(): Date
  vault: Vault
  events: Events
  access: Access
  imapLogin: ImapLogin
  authCache: AuthCache
  reinject: Reinject
  withDns: WithDns
  /** Follows a NOTIFY channel of the database. */
  listen(channel: string, handlers: Handlers): Promise<Feed>
  /**
   * Runs the change a caller asked for in one transaction, together with what belongs to it: its
   * audit row and the mark that an idempotent request has happened.
   */
  change: <Result>(caller: Caller, work: (tx: Tx) => Promise<Result>) => Promise<Result>
}

export interface Foundation {
  config: Config
  log: Log
  target: Target
  now?: () => Date
}

export async function startCore(
  foundation: Foundation,
): Promise<Core & { close(): Promise<void> }> {
  const { config, log, target, now = () => new Date() } = foundation
  const database = openDatabase(target, { pool: config.DATABASE_POOL, name: 'main' })
  const { db } = database
  const sealing = vault(config.SVC_SECRET_KEY ?? keptSecret(config.DATA_DIR, 'secret-key'))
  await verifyRootKey(db, sealing)
  const access = await startAccess({ db, now, log, config, vault: sealing }, target)
  return {
    config,
    log,
    db,
    now,
    vault: sealing,
    events: events({ queued: globalWebhookUrl(config) !== undefined }),
    access,
    imapLogin: imapLogin(config),
    authCache: authCache(config, log),
    reinject: reinject(config),
    withDns: dnsClient(config),
    listen: (channel, handlers) => listen(target, channel, handlers),
    change: (caller, work) =>
      db.transaction().execute(async (tx) => {
        const result = await work(tx)
        for (const store of caller.atCommit) await store(tx)
        return result
      }),
    async close() {
      await access.close()
      await database.close()
    },
  }
}
