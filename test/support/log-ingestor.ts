import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { logIngestor } from '../../src/daemons/log-ingestor.ts'
import { type App, startApp } from './app.ts'
import { mailLog, newQueueId } from './mail-log.ts'
import { waitFor } from './wait.ts'

const cleanUps: (() => Promise<unknown>)[] = []

export const onCleanUp = (stop: () => Promise<unknown>) => cleanUps.push(stop)

/** Stops the ingestors and apps of a test, the newest first. */
export async function cleanUp() {
  for (const stop of cleanUps.splice(0).reverse()) await stop()
}

/** Starts an app with two tenants, an SMTP credential and an empty mail log. */
export async function setUp(env: Record<string, string> = {}) {
  const app = await startApp({ env })
  cleanUps.push(app.stop)
  const path = join(app.dataDir, 'mail.log')
  writeFileSync(path, '')
  const acme = await app.tenant('acme')
  const globex = await app.tenant('globex')
  const { body } = await acme.post('/api/v1/smtp-credentials/', {
    domain_id: acme.domainId,
    username: 'acme-login',
  })
  return { app, path, acme, globex, credential: body.data, log: mailLog(path, app.clock.now) }
}

/** Starts an ingestor for the log; stopping it twice is harmless. */
export async function run({ core }: App, path: string) {
  const current = () => ({ ...core.mailServers.current(), MAIL_LOG_FILE: path })
  const mailServers = { ...core.mailServers, current }
  const daemon = await logIngestor.start({ ...core, mailServers })
  let isStopped = false
  const stop = async () => {
    if (!isStopped) await daemon.stop()
    isStopped = true
  }
  cleanUps.push(stop)
  return { ...daemon, stop }
}

export const rows = ({ core }: App) =>
  core.db.selectFrom('mail_log').selectAll().orderBy('timestamp').orderBy('queue_id').execute()
export const events = ({ core }: App, like: string) =>
  core.db
    .selectFrom('events')
    .selectAll()
    .where('event', 'like', like)
    .orderBy('sequence')
    .execute()
export const suppressions = ({ core }: App) =>
  core.db.selectFrom('suppressions').selectAll().execute()

/** Appends a last message and waits until it is stored, and with it all earlier lines. */
export async function settle(app: App, log: ReturnType<typeof mailLog>) {
  const queueId = newQueueId()
  log.message({ queueId, sender: 'end@nowhere.test', recipient: 'end@nowhere.test' })
  await waitFor(async () => (await rows(app)).some((row) => row.queue_id === queueId))
}

/** All rows but those of `settle`. */
export const ours = async (app: App) =>
  (await rows(app)).filter(({ sender }) => sender !== 'end@nowhere.test')
