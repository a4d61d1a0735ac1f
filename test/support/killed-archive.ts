import { expect } from 'vitest'
import { type Database, openDatabase, type Target } from '../../src/database/database.ts'
import { runningEmbedded } from '../../src/database/embedded.ts'
import { INTERNAL_TOKEN } from './app.ts'
import { installation, ownerOf } from './installation.ts'
import { type Server, startServer } from './process.ts'
import { startS3 } from './s3.ts'
import { waitFor } from './wait.ts'

const ARCHIVE = '/api/v1/archive'
const REASON = 'the test compares it'

export type KilledArchive = Awaited<ReturnType<typeof startKilledArchive>>

interface Message {
  id: string
  subject: string
  storage_type: string
}

/** An installation with an archive whose process the test kills and starts again. */
export async function startKilledArchive({
  env = {},
  services = 'api,worker,archiver',
}: {
  env?: Record<string, string>
  services?: string
}) {
  const s3 = await startS3()
  const made = await installation()
  const start = () =>
    startServer({
      dataDir: made.dataDir,
      env: { ...s3.env, SVC_INTERNAL_TOKEN: INTERNAL_TOKEN, SVC_COOKIE_SECURE: 'false', ...env },
      args: ['--services', services],
    })
  let server: Server = await start()
  let database: Database | undefined
  const whose = `organization_id=${made.organizationId}`
  const owner = () => ownerOf(server, made)
  const connect = () =>
    openDatabase(runningEmbedded(made.dataDir) as Target, { pool: 2, name: 'test' })

  return {
    s3,
    whose,
    owner,
    get server() {
      return server
    },
    /** The database of the running process; it goes on when the process is killed. */
    get db() {
      database ??= connect()
      return database.db
    },
    kill: () => server.killNode(),
    async startAgain() {
      await database?.close()
      database = undefined
      await s3.back()
      server = await start()
    },
    async messages(): Promise<Message[]> {
      const headers = { 'x-api-key': made.apiKey }
      const { body } = await server.send('GET', `${ARCHIVE}/search?per_page=200`, { headers })
      return body.data.items
    },
    /** All messages, once they are in the object storage. */
    uploaded(count: number): Promise<Message[]> {
      return waitFor(async () => {
        const found = await this.messages()
        return found.length === count && found.every((one) => one.storage_type === 's3') && found
      })
    },
    async restored(id: string): Promise<string> {
      const answer = await owner().post(`${ARCHIVE}/${id}/restore?${whose}`, { reason: REASON })
      expect(answer.status, answer.text).toBe(200)
      return answer.text
    },
    async delete(id: string) {
      const answer = await owner().delete(`${ARCHIVE}/${id}?${whose}`, { reason: REASON })
      expect(answer.status, answer.text).toBe(200)
    },
    /** A new key of the organization, and a job that seals all messages for it. */
    async sealAnew(): Promise<string> {
      const settings = { recipient: null, reason: REASON }
      expect((await owner().put(`${ARCHIVE}/settings?${whose}`, settings)).status).toBe(200)
      const job = await owner().post(`${ARCHIVE}/jobs?${whose}`, { kind: 'rekey', reason: REASON })
      expect(job.status, job.text).toBe(201)
      return job.body.data.id
    },
    async job(id: string) {
      const query = `${whose}&reason=${encodeURIComponent(REASON)}`
      return (await owner().get(`${ARCHIVE}/jobs/${id}?${query}`)).body.data
    },
    async send(subject: string): Promise<string> {
      const raw = `Subject: ${subject}\r\n\r\nthe text of ${subject}\r\n`
      const path = `/archive?${whose}&recipient=a@acme.test`
      const headers = { 'x-internal-token': INTERNAL_TOKEN, 'content-type': 'message/rfc822' }
      const answer = await server.send('POST', path, { headers, raw })
      expect(answer.status, answer.text).toBe(200)
      return raw
    },
    async stop() {
      await database?.close()
      const ended = await server.stop()
      await s3.stop()
      return ended
    },
  }
}
