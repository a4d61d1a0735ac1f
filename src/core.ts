import { type Access, startAccess } from './access/access.ts'
import type { Caller } from './access/caller.ts'
import { type Config, globalWebhookUrl } from './config.ts'
import { keptSecret } from './database/data-dir.ts'
import { type Db, openDatabase, type Target, type Tx } from './database/database.ts'
import { type Feeds, openFeeds } from './database/listen.ts'
import { verifyRootKey } from './database/root-key.ts'
import { type Events, events } from './events/events.ts'
import { type Vault, vault } from './lib/vault.ts'
import type { Log } from './log.ts'
import { type AuthCache, authCache } from './mail/auth-cache.ts'
import { dnsClient, type WithDns } from './mail/dns.ts'
import { type Doveadm, doveadm } from './mail/doveadm.ts'
import { type ImapLogin, imapLogin } from './mail/imap-login.ts'
import type { MailQueue } from './mail/mail-queue.ts'
import { type Mailer, mailer } from './mail/mailer.ts'
import { type ManageSieve, manageSieve } from './mail/managesieve/managesieve.ts'
import { postfixQueue } from './mail/postfix-queue.ts'
import { type Reinject, reinject } from './mail/reinject.ts'
import { type SigningKeys, signingKeys } from './mail/signing-keys.ts'
import { type OutboundGuard, outboundGuard } from './outbound/guard.ts'
import type { RedisLink } from './redis/redis.ts'

/** What is made once and handed to all. */
export interface Core {
  config: Config
  log: Log
  db: Db
  /** For tables that are empty now and long in a minute: no plan depends on how long. */
  byIndex: Db
  now(): Date
  vault: Vault
  events: Events
  access: Access
  imapLogin: ImapLogin
  authCache: AuthCache
  sieve: ManageSieve
  doveadm: Doveadm
  signingKeys: SigningKeys
  mailQueue: MailQueue
  reinject: Reinject
  mailer: Mailer
  withDns: WithDns
  /** Where calls to targets that a tenant chose may go. */
  outbound: OutboundGuard
  /** Does nothing until it is used; there is none without REDIS_URL. */
  redis: RedisLink | undefined
  /** Follows a NOTIFY channel of the database. */
  listen: Feeds['listen']
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
  const { db, byIndex } = database
  const sealing = vault(config.SVC_SECRET_KEY ?? keptSecret(config.DATA_DIR, 'secret-key'))
  await verifyRootKey(db, sealing)
  const withDns = dnsClient(config)
  const redis =
    config.REDIS_URL === undefined
      ? undefined
      : (await import('./redis/redis.ts')).redisLink(config.REDIS_URL, log)
  const feeds = openFeeds(target)
  const { listen } = feeds
  const access = await startAccess({ db, now, log, config, vault: sealing, listen })
  const keys = signingKeys(config)
  return {
    config,
    log,
    db,
    byIndex,
    now,
    vault: sealing,
    events: events({
      queued: globalWebhookUrl(config) !== undefined,
      fannedOut: config.WEBHOOK_FANOUT,
    }),
    access,
    imapLogin: imapLogin(config),
    authCache: authCache(config, log),
    doveadm: doveadm(config),
    signingKeys: keys,
    sieve: manageSieve(config, { now, log }),
    mailQueue: postfixQueue(config),
    reinject: reinject(config),
    mailer: mailer(config),
    withDns,
    outbound: outboundGuard({
      allow: config.SVC_OUTBOUND_ALLOW,
      resolve: (name) => withDns((dns) => dns.addresses(name)),
    }),
    redis,
    listen,
    change: (caller, work) =>
      db.transaction().execute(async (tx) => {
        const result = await work(tx)
        for (const store of caller.atCommit) await store(tx)
        return result
      }),
    async close() {
      redis?.close()
      await access.close()
      await feeds.close()
      await keys.close()
      await database.close()
    },
  }
}
