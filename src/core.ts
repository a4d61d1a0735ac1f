import { sql } from 'kysely'
import { type Access, startAccess } from './access/access.ts'
import type { Caller } from './access/caller.ts'
import { INTERNAL_TOKEN_FILE } from './access/internal.ts'
import type { Config } from './config/index.ts'
import { keptSecret } from './database/data-dir.ts'
import { type Db, openDatabase, type Target, type Tx } from './database/database.ts'
import { type Feeds, openFeeds } from './database/listen.ts'
import { verifyRootKey } from './database/root-key.ts'
import { type EventListener, type Events, events } from './events/events.ts'
import { type PasswordHashing, passwordHashing } from './lib/password-hashing.ts'
import { type Vault, vault } from './lib/vault.ts'
import { type WorkerPool, workerPool } from './lib/worker-pool.ts'
import type { Log } from './log.ts'
import { type AuthCache, authCache } from './mail/auth-cache.ts'
import { dnsClient, type WithDns } from './mail/dns.ts'
import { type Doveadm, doveadm } from './mail/doveadm.ts'
import { doveadmOfHosts } from './mail/doveadm-hosts.ts'
import { type ImapLogin, imapLogin, loginKey } from './mail/imap-login.ts'
import type { MailQueue } from './mail/mail-queue.ts'
import { type MailServers, watchMailServers } from './mail/mail-servers.ts'
import { type Mailer, mailer } from './mail/mailer.ts'
import { type ManageSieve, manageSieve } from './mail/managesieve/managesieve.ts'
import { originKey } from './mail/origin.ts'
import type { RunQueueCommand } from './mail/postfix-program.ts'
import { hasPostfix, ownQueueCommands, postfixQueue } from './mail/postfix-queue.ts'
import { type Reinject, reinject } from './mail/reinject.ts'
import { remoteQueueCommands } from './mail/remote-queue.ts'
import { type ServerCertificates, serverCertificates } from './mail/server-certificates.ts'
import { type SigningKeys, signingKeys } from './mail/signing-keys.ts'
import { type ClickHouse, clickHouseOf } from './outbound/clickhouse.ts'
import { type OutboundGuard, outboundGuard } from './outbound/guard.ts'
import { type HelperClient, helperClient } from './privileges/client.ts'
import type { RedisLink } from './redis/redis.ts'

/** The objects that every feature and daemon of a process shares. */
export interface Core {
  config: Config
  log: Log
  db: Db
  now(): Date
  /** Aborted when the process begins to stop. */
  stopping: AbortSignal
  vault: Vault
  passwords: PasswordHashing
  /** Credential of requests between services of the installation. */
  internalToken: string
  events: Events
  access: Access
  /** The current settings of the mail servers; they change when a private edge starts later. */
  mailServers: MailServers
  imapLogin: ImapLogin
  authCache: AuthCache
  sieve: ManageSieve
  doveadm: Doveadm
  signingKeys: SigningKeys
  serverCertificates: ServerCertificates
  mailQueue: MailQueue
  /** Runs the programs of the Postfix on this machine, whatever QUEUE_MANAGER_URL says. */
  queueCommands: RunQueueCommand
  /** Runs the operations that need root; undefined when this process runs as root. */
  helper: HelperClient | undefined
  reinject: Reinject
  mailer: Mailer
  withDns: WithDns
  /** Protects calls to URLs and hosts that a tenant chose. */
  outbound: OutboundGuard
  /** Connects on first use; undefined without REDIS_URL. */
  redis: RedisLink | undefined
  /** Past days of the mail log; undefined without MAIL_LOG_CLICKHOUSE_URL. */
  clickhouse: ClickHouse | undefined
  /** Threads for work that a caller can make long. */
  workers: WorkerPool
  /** Listens to a NOTIFY channel of the database. */
  listen: Feeds['listen']
  /**
   * Records that a request begins to change something outside the database, such as the mail queue.
   * The record remains when the process is killed before the commit.
   */
  begin: (caller: Caller) => Promise<void>
  /**
   * Runs the change of a request in one transaction, together with its audit row and the record of
   * its idempotency key.
   */
  change: <Result>(caller: Caller, work: (tx: Tx) => Promise<Result>) => Promise<Result>
}

interface Foundation {
  config: Config
  log: Log
  target: Target
  /** Called with every emitted event, in the transaction that stores it. */
  listeners: readonly EventListener[]
  now?: () => Date
  stopping?: AbortSignal
}

export async function startCore(
  foundation: Foundation,
): Promise<Core & { close(): Promise<void> }> {
  const { config, log, target, listeners, now = () => new Date() } = foundation
  const { stopping = new AbortController().signal } = foundation
  const database = openDatabase(target, {
    pool: config.DATABASE_POOL,
    name: 'main',
    timeout: config.DATABASE_TIMEOUT,
    longTimeout: config.DATABASE_LONG_TIMEOUT,
  })
  const { db } = database
  const sealing = vault(config.SVC_SECRET_KEY ?? keptSecret(config.DATA_DIR, 'secret-key'))
  await verifyRootKey(db, sealing, config)
  const withDns = dnsClient(config)
  const redis =
    config.REDIS_URL === undefined
      ? undefined
      : (await import('./redis/redis.ts')).redisLink(config.REDIS_URL, log)
  const clickhouse = clickHouseOf(config, log)
  const feeds = openFeeds({
    open: database.open,
    notify: (channel, payload) => sql`select pg_notify(${channel}, ${payload})`.execute(db),
  })
  const { listen } = feeds
  const passwords = passwordHashing(config.SVC_HASHING_COST)
  const access = await startAccess({ db, now, log, config, vault: sealing, listen, passwords })
  const mailServers = watchMailServers(config)
  const dovecot = doveadmOfHosts(doveadm(mailServers), db, sealing)
  const helper =
    config.SVC_HELPER_SOCKET === undefined ? undefined : helperClient(config.SVC_HELPER_SOCKET)
  const keys = signingKeys(config, mailServers, helper?.signingKeys(mailServers))
  const workers = workerPool()
  const queueCommands = helper?.runQueueCommand ?? ownQueueCommands(mailServers)
  const internalToken =
    config.SVC_INTERNAL_TOKEN ?? keptSecret(config.DATA_DIR, INTERNAL_TOKEN_FILE)
  return {
    config,
    log,
    db,
    now,
    stopping,
    vault: sealing,
    passwords,
    internalToken,
    events: events(listeners),
    access,
    mailServers,
    helper,
    imapLogin: imapLogin(config, mailServers, loginKey(sealing)),
    authCache: authCache(dovecot, log),
    doveadm: dovecot,
    signingKeys: keys,
    serverCertificates: serverCertificates(mailServers, dovecot, helper?.writeCertificates),
    sieve: manageSieve({ config, mailServers, now, log }),
    queueCommands,
    mailQueue:
      config.QUEUE_MANAGER_URL === undefined
        ? postfixQueue(queueCommands, () => hasPostfix(mailServers))
        : postfixQueue(remoteQueueCommands(config.QUEUE_MANAGER_URL, internalToken), () => true),
    reinject: reinject({
      mailServers,
      filterHost: config.CONTENT_FILTER_HOST,
      originKey: originKey(sealing),
    }),
    mailer: mailer(config, mailServers),
    withDns,
    outbound: outboundGuard({
      allow: config.SVC_OUTBOUND_ALLOW,
      resolve: (name) => withDns((dns) => dns.addresses(name)),
    }),
    redis,
    clickhouse,
    workers,
    listen,
    async begin(caller) {
      for (const record of caller.atStart) await record()
    },
    change: (caller, work) =>
      db.transaction().execute(async (tx) => {
        const result = await work(tx)
        for (const store of caller.atCommit) await store(tx, result)
        return result
      }),
    async close() {
      mailServers.close()
      redis?.close()
      clickhouse?.close()
      await workers.close()
      await access.close()
      await feeds.close()
      await keys.close()
      await database.close()
    },
  }
}
