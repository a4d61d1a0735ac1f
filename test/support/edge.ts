import { existsSync, readFileSync } from 'node:fs'
import type { Stage } from '../../src/content/stage.ts'
import { caldav } from '../../src/daemons/caldav.ts'
import { startContentFilter } from '../../src/daemons/content-filter.ts'
import type { Running } from '../../src/daemons/daemon.ts'
import { daemons } from '../../src/daemons/index.ts'
import { jmap } from '../../src/daemons/jmap.ts'
import { urlProtection } from '../../src/daemons/url-protection.ts'
import { openDatabase } from '../../src/database/database.ts'
import { databaseAddress, edgePassword, ensureEdgeRole } from '../../src/edge/database-role.ts'
import { edgeDown, edgeStatus, edgeUp } from '../../src/edge/edge.ts'
import { edgeImpossible } from '../../src/edge/packages.ts'
import type { Feature } from '../../src/features/feature.ts'
import { contentStages } from '../../src/features/index.ts'
import { freePort } from '../../src/lib/free-port.ts'
import { type App, PASSWORD, startApp } from './app.ts'
import { mailIn } from './imap-client.ts'
import { orStop } from './or-stop.ts'
import { message, openSmtp } from './smtp-client.ts'
import { startSink } from './smtp-sink.ts'
import { waitFor } from './wait.ts'

/** The reason why no mail servers are available; undefined when they are. */
export const edgeMissing = edgeImpossible()

/** A suffix for the title of a describe block that gives the reason for skipping it. */
export const skipped = edgeMissing === undefined ? '' : ` (skipped: ${edgeMissing})`

interface Options {
  env?: Record<string, string>
  /** Content stages of the test, which run after those of the host. */
  stages?: readonly Stage[]
  /** Services that the test runs in a process of its own. */
  elsewhere?: readonly string[]
  /** Serve the OAuth service on the listener of the app. */
  oauth?: boolean
  /** Routes that the test adds to those of the API. */
  features?: Feature[]
}

export type MailHost = Awaited<ReturnType<typeof startMailHost>>

/**
 * A host as it ships: every service with a private Postfix, Dovecot and Rspamd, and its own
 * database. Mail to outside recipients arrives in a sink.
 */
export async function startMailHost({
  env = {},
  stages = [],
  elsewhere = [],
  oauth = false,
  features = [],
}: Options = {}) {
  const sink = await startSink()
  const starting = startApp({
    limiting: true,
    oauth,
    daemons: [jmap, urlProtection, ...(elsewhere.includes('caldav') ? [] : [caldav])],
    env: {
      EDGE_RELAY_HOST: sink.host,
      SVC_MAIL_HOSTNAME: 'mx.edge.test',
      ...(await policyPorts()),
      ...env,
    },
    features,
  })
  const app = await orStop(starting, sink.stop)
  const services: Running[] = []
  const up = () => startEdge(app)
  const startFilter = async () =>
    startContentFilter(app.core, [...(await contentStages(app.core)), ...stages])
  let filter: Awaited<ReturnType<typeof startFilter>> | undefined
  const stopFilter = async () => {
    await filter?.stop()
    filter = undefined
  }
  const stop = async () => {
    await stopFilter()
    for (const service of services.reverse()) await service.stop()
    await edgeDown(app.dataDir)
    await app.stop()
    await sink.stop()
  }
  const startServices = async () => {
    filter = await startFilter()
    for (const { name, load } of daemons) {
      if (STARTED_ABOVE.has(name) || elsewhere.includes(name) || name === 'oauth') continue
      services.push(await (await load()).start(app.core))
    }
  }
  const edge = await orStop(up(), stop)
  await orStop(startServices(), stop)
  const { ports, folders } = edge.settings
  const logOf = (name: 'mail' | 'dovecot' | 'rspamd') => {
    const file = `${folders.logs}/${name}.log`
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }

  return {
    app,
    edge,
    ports,
    sink,
    up,
    down: () => edgeDown(app.dataDir),
    /** The processes of the three servers by name. */
    pids: () => edgeStatus(app.dataDir) ?? {},
    stop,
    stopFilter,
    async startFilter() {
      filter = await startFilter()
    },
    log: logOf,

    /** Sends a message over port 25, like another mail host. */
    async receive(to: string | string[], subject: string, body?: string) {
      const client = await openSmtp({ port: ports.smtp })
      const from = 'somebody@elsewhere.test'
      try {
        return await client.send({
          from,
          to,
          text: message(from, [to].flat()[0] ?? '', subject, body),
        })
      } finally {
        client.quit()
      }
    },

    /** An encrypted connection to submission without a login. */
    async submission(from?: string) {
      const client = await openSmtp({ port: ports.submission, ...(from && { from }) })
      await client.startTls()
      return client
    },

    /** The SMTP reply code of a login: 235, 535 or 454. */
    async authCode(user: string, password: string, from?: string) {
      const client = await this.submission(from)
      try {
        return (await client.auth(user, password)).code
      } finally {
        client.quit()
      }
    },

    /** Waits until a mailbox contains a message with this subject. */
    arrived: (user: string, subject: string, { password = PASSWORD, folder = 'INBOX' } = {}) =>
      waitFor(async () =>
        (await mailIn(ports.imaps, user, password, folder)).find((text) =>
          text.includes(`Subject: ${subject}\r\n`),
        ),
      ).catch((error) => {
        const log = logOf('mail').split('\n').slice(-40).join('\n')
        throw new Error(`${subject} did not arrive at ${user}; the mail log ends:\n${log}`, {
          cause: error,
        })
      }),
  }
}

const STARTED_ABOVE = new Set([
  'api',
  'worker',
  'rate_limiter',
  'content_filter',
  'jmap',
  'caldav',
  'url_protection',
])

/** Free ports for the policy services, because several hosts run on the test machine at once. */
async function policyPorts() {
  const [rate, access, auth] = [await freePort(), await freePort(), await freePort()].map(String)
  return {
    POLICY_RATE_PORT: rate as string,
    POLICY_ACCESS_PORT: access as string,
    AUTH_POLICY_PORT: auth as string,
    EDGE_RATE_POLICY_PORT: rate as string,
    EDGE_ACCESS_POLICY_PORT: access as string,
    EDGE_AUTH_POLICY_PORT: auth as string,
  }
}

async function startEdge(app: App) {
  const { config, vault } = app.core
  const { url } = app.database
  const password = edgePassword(vault)
  const database = openDatabase(url, { pool: 2, name: 'edge' })
  try {
    const statementFile = `${app.dataDir}/edge-role.sql`
    await ensureEdgeRole(database.sql, url, { password, statementFile })
  } finally {
    await database.close()
  }
  const edge = await edgeUp(config, vault, databaseAddress(url, undefined, password))
  const { mailServers } = app.core
  await waitFor(
    () => mailServers.current().POSTFIX_CONFIG_DIR === edge.environment.POSTFIX_CONFIG_DIR,
  )
  return edge
}
