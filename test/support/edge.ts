import { existsSync, readFileSync } from 'node:fs'
import type { Stage } from '../../src/content/stage.ts'
import { startContentFilter } from '../../src/daemons/content-filter.ts'
import { contentStages } from '../../src/daemons/content-stages.ts'
import { openDatabase } from '../../src/database/database.ts'
import { databaseAddress, edgePassword, ensureEdgeRole } from '../../src/edge/database-role.ts'
import { edgeDown, edgeStatus, edgeUp } from '../../src/edge/edge.ts'
import { edgeImpossible } from '../../src/edge/packages.ts'
import { type App, PASSWORD, startApp } from './app.ts'
import { mailIn } from './imap-client.ts'
import { message, openSmtp } from './smtp-client.ts'
import { startSink } from './smtp-sink.ts'
import { waitFor } from './wait.ts'

/** Why there are no mail servers to test against; undefined when there are. */
export const edgeMissing = edgeImpossible()

/** For the title of a describe block, which says why it was skipped. */
export const skipped = edgeMissing === undefined ? '' : ` (skipped: ${edgeMissing})`

interface Options {
  env?: Record<string, string>
  /** The rate limiter runs too; `env` says at which ports it is asked. */
  limiting?: boolean
  /** The content filter runs too, with these stages or with its own. */
  filtering?: 'own' | readonly Stage[]
}

const NOBODY_ASKED = {
  EDGE_RATE_POLICY_PORT: '0',
  EDGE_ACCESS_POLICY_PORT: '0',
  EDGE_AUTH_POLICY_PORT: '0',
}

export type MailHost = Awaited<ReturnType<typeof startMailHost>>

/**
 * The API with Postfix, Dovecot and Rspamd of its own behind it, on its database; what they send to
 * the outside lands in a sink.
 */
export async function startMailHost({ env = {}, limiting = false, filtering }: Options = {}) {
  const sink = await startSink()
  const app = await startApp({
    limiting,
    env: {
      EDGE_RELAY_HOST: sink.host,
      SVC_MAIL_HOSTNAME: 'mx.edge.test',
      // Another process of this machine may answer at the usual ports.
      ...NOBODY_ASKED,
      EDGE_CONTENT_FILTER_PORT: filtering ? '' : '0',
      ...env,
    },
  })
  const up = () => startEdge(app)
  const startFilter = () =>
    startContentFilter(app.core, filtering === 'own' ? contentStages(app.core) : (filtering ?? []))
  let filter: Awaited<ReturnType<typeof startFilter>> | undefined
  const stopFilter = async () => {
    await filter?.stop()
    filter = undefined
  }
  const stop = async () => {
    await stopFilter()
    await edgeDown(app.dataDir)
    await app.stop()
    await sink.stop()
  }
  const edge = await up().catch(async (error) => {
    await stop()
    throw error
  })
  if (filtering) filter = await startFilter()
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
    /** The processes of the three servers, by name. */
    pids: () => edgeStatus(app.dataDir) ?? {},
    stop,
    stopFilter,
    async startFilter() {
      filter = await startFilter()
    },
    log: logOf,

    /** From another mail host, over port 25. */
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

    /** A connection to submission, encrypted, on which nobody has logged in yet. */
    async submission(from?: string) {
      const client = await openSmtp({ port: ports.submission, ...(from && { from }) })
      await client.startTls()
      return client
    },

    /** The answer to a login over SMTP: 235, 535 or 454. */
    async authCode(user: string, password: string, from?: string) {
      const client = await this.submission(from)
      try {
        return (await client.auth(user, password)).code
      } finally {
        client.quit()
      }
    },

    /** Waits until a message with this subject is in a mailbox. */
    arrived: (user: string, subject: string, { password = PASSWORD, folder = 'INBOX' } = {}) =>
      waitFor(async () =>
        (await mailIn(ports.imaps, user, password, folder)).find((text) =>
          text.includes(`Subject: ${subject}\r\n`),
        ),
      ),
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
  return edgeUp(config, vault, databaseAddress(url, undefined, password))
}
