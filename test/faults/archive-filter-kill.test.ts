import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../src/lib/free-port.ts'
import { type KilledArchive, startKilledArchive } from '../support/killed-archive.ts'
import { cleanUp } from '../support/process.ts'
import { startReinjectSink } from '../support/reinject-sink.ts'
import { openSmtp } from '../support/smtp-client.ts'
import { startHarmlessRspamd } from '../support/swallowing-servers.ts'
import { waitFor } from '../support/wait.ts'

const CROWD = 30

afterAll(cleanUp)

const subjectOf = (content: string) => /^Subject: (.*)\r$/m.exec(content)?.[1] ?? ''

it('delivers no message without a copy when the content filter is killed at any step', async () => {
  const sink = await startReinjectSink()
  const rspamd = await startHarmlessRspamd()
  const port = await freePort()
  const archive = await startKilledArchive({
    services: 'api,worker,archiver,content_filter',
    env: {
      CONTENT_FILTER_PORT: String(port),
      MAIL_REINJECT_HOST: '127.0.0.1',
      MAIL_REINJECT_PORT: String(sink.port),
      MAIL_FILTERED_PORT: String(sink.port),
      RSPAMD_URL: rspamd.url,
    },
  })
  onTestFinished(async () => {
    await archive.stop()
    await sink.stop()
    await rspamd.stop()
  })
  const accepted = new Set<string>()
  const pass = async (subject: string) => {
    const client = await openSmtp({ port })
    const id = subject.replaceAll(' ', '-')
    const text = `From: x@far.test\nSubject: ${subject}\nMessage-ID: <${id}@far.test>\n\n${subject}`
    const reply = await client.send({ from: 'x@far.test', to: 'admin@acme.test', text })
    client.quit()
    if (reply.code === 250) accepted.add(subject)
    return reply
  }
  const spooled = () => {
    const names = readdirSync(join(archive.server.dataDir, 'archive-spool'))
    return names.filter((name) => name.endsWith('.age')).length
  }
  const rowsOf = async ({ db }: KilledArchive) => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from archived_messages`.execute(db)
    return rows[0]?.count ?? 0
  }

  expect((await pass('before')).code).toBe(250)
  await archive.uploaded(1)

  // The file is written and its row is not stored.
  await archive.db.transaction().execute(async (tx) => {
    await sql`lock table archived_messages in exclusive mode`.execute(tx)
    const before = spooled()
    pass('no row').catch(() => {})
    await waitFor(() => spooled() > before)
    await archive.kill()
  })
  await archive.startAgain()
  expect((await pass('no row')).code).toBe(250)

  // The message is archived and the mail server behind has not taken it.
  const known = await rowsOf(archive)
  sink.state.mood = 'silent'
  pass('not delivered').catch(() => {})
  await waitFor(async () => (await rowsOf(archive)) > known)
  sink.state.mood = 'well'
  await archive.kill()
  await archive.startAgain()
  expect((await pass('not delivered')).code).toBe(250)

  // Many messages are at different steps; the sender tries again those without an answer.
  const crowd = Array.from({ length: CROWD }, (_, index) => `crowd ${index}`)
  const sending = crowd.map((subject) => pass(subject))
  await Promise.race(sending)
  await archive.kill()
  await archive.startAgain()
  await Promise.allSettled(sending)
  for (const subject of crowd) if (!accepted.has(subject)) await pass(subject)

  const subjects = ['before', 'no row', 'not delivered', ...crowd]
  expect([...accepted].sort()).toEqual([...subjects].sort())
  const messages = await archive.uploaded(subjects.length)
  expect(messages.map(({ subject }) => subject).sort()).toEqual([...subjects].sort())
  expect([...new Set(sink.received.map(({ content }) => subjectOf(content)))].sort()).toEqual(
    [...subjects].sort(),
  )
  for (const { id, subject } of messages) {
    const delivered = sink.received.filter(({ content }) => subjectOf(content) === subject)
    const restored = await archive.restored(id)
    expect(delivered.map(({ content }) => content)).toContain(restored)
  }
})
