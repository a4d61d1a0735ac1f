import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Dovecot } from '../../test/support/dovecot.ts'
import { IMAP_PASSWORD, PASSWORDS, settingsFor } from '../../test/support/migration.ts'
import { bootstrap } from '../bootstrap.ts'
import { type Started, start } from '../servers.ts'
import type { Ends } from './contestants.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const PATIENCE_MS = 15 * 60_000

interface Job {
  job_id: string
  status: string
  migrated_messages: number
  error: string | null
}

/** Runs the API with its database in one process and the measured daemon in another. */
export async function startMailplane(dataDir: string, own: Dovecot, started: Started[]) {
  const common = {
    SVC_SECRET_KEY: 'a root key for measuring, of 32 characters',
    PORT: '0',
    ...settingsFor(own),
    IMAP_PORT: String(own.ports.imap),
    IMAP_TLS: 'false',
  }
  const environment = { DATA_DIR: `${dataDir}/api`, ...common }
  const server = await start(
    process.execPath,
    [MAIN, 'serve', '--services', 'api'],
    environment,
    started,
  )
  const { api_key } = await bootstrap(server.url, environment.DATA_DIR)
  const database = execFileSync(process.execPath, [MAIN, 'db', 'url'], { env: environment })
    .toString()
    .trim()

  async function call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: { 'x-api-key': api_key, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as Answer
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`)
    return answer
  }
  const jobOf = async (id: string) => (await call<{ job: Job }>('GET', `/migration/jobs/${id}`)).job

  return {
    daemon: () =>
      start(
        process.execPath,
        [MAIN, 'serve', '--services', 'migration'],
        { DATA_DIR: `${dataDir}/daemon`, DATABASE_URL: database, ...common },
        started,
      ),
    mailbox: (email: string) =>
      call('POST', '/mailboxes/email-accounts', { email, password: 'a-long-passphrase-1' }),
    begin: async ({ source, from, to }: Ends) =>
      (
        await call<Job>('POST', '/migration/import', {
          source_host: '127.0.0.1',
          source_port: source.ports.imap,
          source_ssl: false,
          source_username: from,
          source_password: IMAP_PASSWORD,
          target_email: to,
          target_password: IMAP_PASSWORD,
        })
      ).job_id,
    delta: async (id: string) =>
      (await call<Job>('POST', `/migration/jobs/${id}/delta`, PASSWORDS)).job_id,
    jobOf,
    async ended(id: string): Promise<Job> {
      for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(10)) {
        const job = await jobOf(id)
        if (job.status === 'completed') return job
        if (job.status !== 'pending' && job.status !== 'running') {
          throw new Error(`job ${id} is ${job.status}: ${job.error}`)
        }
      }
      throw new Error(`job ${id} did not end`)
    },
  }
}

/** Peak resident memory of a process in MB. */
export const peakMb = ({ child }: Started): number => {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}
