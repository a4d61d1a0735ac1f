import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { issueKey } from '../../src/access/api-keys.ts'
import { anonymous, type Role, type SessionKind } from '../../src/access/caller.ts'
import { COOKIES } from '../../src/access/sessions.ts'
import { readConfig } from '../../src/config/index.ts'
import { startCore } from '../../src/core.ts'
import { api } from '../../src/daemons/api.ts'
import type { Daemon } from '../../src/daemons/daemon.ts'
import { optimizerFeatures } from '../../src/daemons/delivery-optimizer.ts'
import { rateLimiter } from '../../src/daemons/rate-limiter.ts'
import { trackingFeatures } from '../../src/daemons/tracking.ts'
import { webhooksFeatures } from '../../src/daemons/webhooks.ts'
import { worker } from '../../src/daemons/worker.ts'
import { prepareDataDir } from '../../src/database/data-dir.ts'
import { autoconfigFeatures } from '../../src/features/autoconfig/index.ts'
import { insertFirstTenant } from '../../src/features/bootstrap/bootstrap.repository.ts'
import type { Feature } from '../../src/features/feature.ts'
import { webhookQueue } from '../../src/features/webhooks/delivery/enqueue.ts'
import { metrics } from '../../src/http/metrics.ts'
import { httpServer } from '../../src/http/server.ts'
import { passwordHashing } from '../../src/lib/password-hashing.ts'
import { totpCode } from '../../src/lib/totp.ts'
import { ulid } from '../../src/lib/ulid.ts'
import { serviceLog } from '../../src/log.ts'
import { type Answer, type Options, send } from './http.ts'
import { cloneDatabase } from './postgres.ts'

export const PASSWORD = 'Tr0ub4dor-and-3-horses'
/** Of all tests: the password of the mail servers' role comes from it, and they share a PostgreSQL. */
export const ROOT_KEY = 'a root key that all the tests have in common'
/** The shared token of the services of one installation. */
export const INTERNAL_TOKEN = 'a token that the services have in common'
const passwordHash = passwordHashing('lowest').hash(PASSWORD)

export type App = Awaited<ReturnType<typeof startApp>>
export type Client = ReturnType<typeof clientOf>

interface AppOptions {
  env?: Record<string, string>
  /** Routes that exist only in the test. */
  features?: Feature[]
  /** Several apps on one database act like several processes. */
  database?: { url: string }
  /** Daemons besides the API whose routes share the listener. */
  daemons?: Daemon[]
  /** Start the rate limiter and the policy services on free ports. */
  limiting?: boolean
  /** Start the OAuth service; its library is large, so it is loaded for the tests that need it. */
  oauth?: boolean
}

/** Starts the whole API on a free port, with its own database and a clock that the test moves. */
export async function startApp({
  env = {},
  features = [],
  daemons = [],
  database,
  limiting = false,
  oauth = false,
}: AppOptions = {}) {
  const clone = database ? undefined : await cloneDatabase(inject('databaseUrl'))
  const url = database?.url ?? (clone?.url as string)
  const dataDir = mkdtempSync(join(tmpdir(), 'mailplane-app-'))
  prepareDataDir(dataDir)
  const config = readConfig({
    DATA_DIR: dataDir,
    DATABASE_POOL: '5',
    // A busy machine may take longer than the 8 seconds of a real host.
    DATABASE_TIMEOUT: '120',
    SVC_SECRET_KEY: ROOT_KEY,
    SVC_COOKIE_SECURE: 'false',
    SVC_HASHING_COST: 'lowest',
    SVC_INTERNAL_TOKEN: INTERNAL_TOKEN,
    POLICY_RATE_PORT: '0',
    POLICY_ACCESS_PORT: '0',
    AUTH_POLICY_PORT: '0',
    ...env,
  })
  let offset = 0
  const now = () => new Date(Date.now() + offset)
  const { log, close: closeLog } = serviceLog('api', config)
  const core = await startCore({
    config,
    log,
    target: url,
    listeners: [webhookQueue(config)],
    now,
  })
  await core.access.bootstrap.prepare()
  const daemon = await api.start(core)
  const work = await worker.start(core)
  const limiter = limiting ? await rateLimiter.start(core) : undefined
  const authorization = oauth
    ? await (await import('../../src/daemons/oauth.ts')).oauth.start(core)
    : undefined
  const others = await Promise.all(daemons.map((one) => one.start(core)))
  const server = await httpServer(core, [
    {
      name: 'api',
      log,
      metrics: metrics('api'),
      // The routes of the other daemons share the listener, as in a process that runs all services.
      features: [
        ...daemon.features,
        ...webhooksFeatures(core, () => {}),
        ...trackingFeatures(core),
        ...optimizerFeatures(core),
        ...(authorization?.features ?? []),
        ...others.flatMap((one) => one.features),
        ...autoconfigFeatures(core),
        ...features,
      ],
    },
    ...(limiter
      ? [
          {
            name: 'rate_limiter',
            log,
            metrics: metrics('rate_limiter'),
            features: limiter.features,
          },
        ]
      : []),
  ])
  const stop = async () => {
    await server.close()
    await limiter?.stop()
    await authorization?.stop()
    for (const one of others) await one.stop()
    await work.stop()
    await daemon.stop()
    await core.close()
    closeLog()
    await clone?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    await server.listen({ host: '127.0.0.1', port: 0 })
  } catch (error) {
    await stop()
    throw error
  }
  const base = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`

  const app = {
    base,
    core,
    dataDir,
    database: { url },
    /** The rate limiter of this process; present only with `limiting`. */
    limiter: limiter as NonNullable<typeof limiter>,
    clock: {
      now,
      advance(ms: number) {
        offset += ms
      },
      reset() {
        offset = 0
      },
    },
    send: (method: string, path: string, options?: Options) => send(base, method, path, options),

    /** Creates an organization with a domain, a mailbox, a dashboard user and a key. */
    async tenant(name: string) {
      const tenant = {
        organizationId: ulid(),
        domain: `${name}.test`,
        domainId: ulid(),
        accountId: ulid(),
        userId: ulid(),
        email: `admin@${name}.test`,
      }
      const key = await core.db.transaction().execute(async (tx) => {
        await insertFirstTenant(tx, {
          ...tenant,
          organizationName: name,
          passwordHash: await passwordHash,
          now: now().toISOString(),
        })
        return issueKey(tx, newKey(tenant.organizationId))
      })
      return {
        ...tenant,
        ...clientOf(app, { 'x-api-key': key.api_key }),
        apiKey: key.api_key,
        keyId: key.key_id,
      }
    },

    async key(organizationId: string | null, more: Partial<Parameters<typeof issueKey>[1]> = {}) {
      const key = await issueKey(core.db, { ...newKey(organizationId), ...more })
      return {
        ...clientOf(app, { 'x-api-key': key.api_key }),
        keyId: key.key_id,
        apiKey: key.api_key,
      }
    },

    async dashboard(email: string, from?: string) {
      const jar = new Map<string, string>()
      const login = await send(base, 'POST', '/api/v1/auth/login', {
        body: { email, password: PASSWORD },
        jar,
        ...(from && { from }),
      })
      return { login, ...clientOf(app, {}, jar, from) }
    },

    /** Creates an operator with a second factor and a full session, as after both login steps. */
    async operator(role: Role, email = `${role}-${ulid().toLowerCase()}@ops.test`) {
      const id = ulid()
      await core.db
        .insertInto('operators')
        .values({ id, email, full_name: role, role, password_hash: await passwordHash })
        .execute()
      const { twoFactor } = core.access
      const holder = { kind: 'operator' as const, id }
      const { secret = '', backup_codes = [] } =
        (await twoFactor.begin(core.db, holder, email)) ?? {}
      await twoFactor.spend(core.db, holder, app.code(secret))
      const session = await app.session('operator', id)
      return { ...session, sessionId: session.id, id, email, secret, backupCodes: backup_codes }
    },

    /** Proves the ownership of a pending domain, as an operator does. */
    async prove(domainId: string) {
      const operator = await app.operator('operator')
      const path = `/api/v1/domains/${domainId}/verify-ownership`
      const answer = await operator.post(path, { reason: 'the contract was checked' })
      if (answer.status !== 200) throw new Error(`POST ${path}: ${answer.text}`)
    },

    /** Adds a domain to a tenant and proves its ownership, so that the mail servers host it. */
    async hostedDomain(tenant: Client, fields: { domain: string; dkim_enabled?: boolean }) {
      const added = await tenant.post('/api/v1/domains/', fields)
      if (added.status !== 201) throw new Error(`${fields.domain}: ${added.text}`)
      await app.prove(added.body.data.id)
      return added.body.data
    },

    /** A session after the password step, before the second factor. */
    async partialOperator(email: string, from?: string) {
      const jar = new Map<string, string>()
      const login = await send(base, 'POST', '/api/v1/platform/auth/login', {
        body: { email, password: PASSWORD },
        jar,
        ...(from && { from }),
      })
      return { login, ...clientOf(app, {}, jar, from) }
    },

    /** The current code of an authenticator, or the code some time steps away. */
    code(secret: string, steps = 0): string {
      return totpCode(secret, Math.floor(now().getTime() / 30_000) + steps)
    },

    /** Opens a session for any user without a login. */
    async session(
      kind: SessionKind,
      subjectId: string,
      { partial = false, from = '127.0.0.1' }: { partial?: boolean; from?: string } = {},
    ) {
      const caller = {
        ...anonymous,
        ip: from,
        userAgent: null,
        correlationId: '',
        atStart: [],
        atCommit: [],
      }
      const opened = await core.db
        .transaction()
        .execute((tx) => core.access.sessions.open(tx, kind, subjectId, caller, { partial }))
      const jar = new Map([
        [COOKIES[kind].session, opened.token],
        [COOKIES[kind].csrf, opened.csrfToken],
      ])
      return { ...opened, ...clientOf(app, {}, jar, from), jar }
    },

    stop,
  }
  return app
}

let addresses = 0

/** An unused loopback IP address, because failures are counted by IP address. */
export function newIp(): string {
  addresses++
  return `127.20.${Math.floor(addresses / 250)}.${(addresses % 250) + 1}`
}

const newKey = (organizationId: string | null): Parameters<typeof issueKey>[1] => ({
  name: 'test',
  organizationId,
  scope: 'organization',
  permissions: {},
  expiresAt: null,
})

/** A client that sends one credential with every request. */
export function clientOf(
  app: { base: string },
  headers: Record<string, string>,
  jar?: Map<string, string>,
  from?: string,
) {
  const call = (
    method: string,
    path: string,
    body?: unknown,
    more: Options = {},
  ): Promise<Answer> => {
    const csrf =
      jar?.get('svc_operator_csrf') ?? jar?.get('svc_csrf') ?? jar?.get('svc_mailbox_csrf')
    return send(app.base, method, path, {
      ...more,
      ...(body !== undefined && { body }),
      ...(jar && { jar }),
      ...(from && !more.from && { from }),
      headers: { ...headers, ...(csrf && { 'x-csrf-token': csrf }), ...more.headers },
    })
  }
  return {
    jar,
    call,
    get: (path: string, more?: Options) => call('GET', path, undefined, more),
    post: (path: string, body: unknown = {}, more?: Options) => call('POST', path, body, more),
    put: (path: string, body: unknown = {}, more?: Options) => call('PUT', path, body, more),
    patch: (path: string, body: unknown = {}, more?: Options) => call('PATCH', path, body, more),
    delete: (path: string, body?: unknown, more?: Options) => call('DELETE', path, body, more),
  }
}
