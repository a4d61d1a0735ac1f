import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, afterEach, expect, it, onTestFinished } from 'vitest'
import { type Database, openDatabase, type Target } from '../../src/database/database.ts'
import { runningEmbedded } from '../../src/database/embedded.ts'
import { INTERNAL_TOKEN } from '../support/app.ts'
import { installation, ownerOf } from '../support/installation.ts'
import { cleanUp, type Server, startServer } from '../support/process.ts'
import { startS3 } from '../support/s3.ts'
import { waitFor } from '../support/wait.ts'

type S3 = Awaited<ReturnType<typeof startS3>>

interface Scene {
  server: Server
  database: Database
  s3: S3
  /** Archives a message as the content filter does; resolves when it is accepted. */
  send(subject: string): Promise<void>
  /** The names of the files that wait for their upload. */
  spooled(): string[]
}

const opened: Database[] = []
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close()
})
afterAll(cleanUp)

/** Brings the archive to a step, and kills the process there. */
const STEPS: Record<string, (scene: Scene) => Promise<void>> = {
  async 'the file is written and its row is not stored'(scene) {
    await locked(scene.database, async () => {
      const before = new Set(scene.spooled())
      scene.send('never accepted').catch(() => {})
      await waitFor(() => scene.spooled().some((name) => !before.has(name)))
      await scene.server.killNode()
    })
  },
  async 'the message is accepted and its upload is under way'(scene) {
    const requests = await scene.s3.silence()
    await scene.send('during the upload')
    await waitFor(() => requests() > 0)
    await scene.server.killNode()
    await scene.s3.back()
  },
  async 'the object is uploaded and its row is not marked'(scene) {
    await scene.s3.away()
    await scene.send('after the upload')
    await locked(scene.database, async () => {
      const before = scene.s3.objects().size
      await scene.s3.back()
      await waitFor(() => scene.s3.objects().size > before)
      await scene.server.killNode()
    })
  },
  async 'many messages are at different steps'(scene) {
    const sending = Array.from({ length: 40 }, (_, i) => scene.send(`crowd ${i}`))
    await Promise.race(sending)
    await scene.server.killNode()
    await Promise.allSettled(sending)
  },
}

/** Nothing is written to the index meanwhile. */
async function locked(database: Database, work: () => Promise<void>): Promise<void> {
  await database.db.transaction().execute(async (tx) => {
    await sql`lock table archived_messages in exclusive mode`.execute(tx)
    await work()
  })
}

it('loses no accepted message when it is killed at any step', async () => {
  const s3 = await startS3()
  onTestFinished(() => s3.stop())
  const made = await installation()
  const accepted = new Map<string, string>()
  const env = { ...s3.env, SVC_INTERNAL_TOKEN: INTERNAL_TOKEN, SVC_COOKIE_SECURE: 'false' }
  const args = ['--services', 'api,worker,archiver']
  for (const step of Object.values(STEPS)) {
    const server = await startServer({ ...made, env, args })
    const database = openDatabase(runningEmbedded(made.dataDir) as Target, {
      pool: 2,
      name: 'test',
    })
    opened.push(database)
    const send = async (subject: string) => {
      const raw = `Subject: ${subject}\r\n\r\nthe text of ${subject}\r\n`
      const path = `/archive?organization_id=${made.organizationId}&recipient=a@acme.test`
      const headers = { 'x-internal-token': INTERNAL_TOKEN, 'content-type': 'message/rfc822' }
      const answer = await server.send('POST', path, { headers, raw })
      if (answer.status !== 200) throw new Error(answer.text)
      accepted.set(subject, raw)
    }
    const spool = join(made.dataDir, 'archive-spool')
    const spooled = () => readdirSync(spool).filter((name) => name.endsWith('.age'))
    await send(`before ${accepted.size}`)
    await step({ server, database, s3, send, spooled })
  }

  const server = await startServer({ ...made, env, args })
  const headers = { 'x-api-key': made.apiKey }
  const items = await waitFor(async () => {
    const { body } = await server.send('GET', '/api/v1/archive/search?per_page=200', { headers })
    const found = body.data.items as { id: string; subject: string; storage_type: string }[]
    return found.every((one) => one.storage_type === 's3') && found
  })
  const found = new Map(items.map(({ subject, id }) => [subject, id]))
  expect([...accepted.keys()].filter((subject) => !found.has(subject))).toEqual([])
  expect(accepted.size).toBeGreaterThan(STEPS_WITH_MAIL)
  const owner = ownerOf(server, made)
  for (const [subject, raw] of accepted) {
    const path = `/api/v1/archive/${found.get(subject)}/restore`
    const reason = 'the test compares it'
    const answer = await owner.post(`${path}?organization_id=${made.organizationId}`, { reason })
    expect(answer.text).toBe(raw)
  }
  expect(await server.stop()).toMatchObject({ code: 0 })
})

const STEPS_WITH_MAIL = 6
