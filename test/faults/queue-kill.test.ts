import { sql } from 'kysely'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase, type Target } from '../../src/database/database.ts'
import { runningEmbedded } from '../../src/database/embedded.ts'
import { installation, ownerOf } from '../support/installation.ts'
import { postfixMissing, startPostfix } from '../support/postfix.ts'
import { cleanUp, startServer } from '../support/process.ts'
import { waitFor } from '../support/wait.ts'

const missing = postfixMissing()

describe.skipIf(missing)(`a change of the mail queue${missing ? `: ${missing}` : ''}`, () => {
  afterAll(cleanUp)

  it('has an audit row when the server is killed between Postfix and the commit (B7.3, B8)', async () => {
    const postfix = await startPostfix()
    onTestFinished(() => postfix.remove())
    await postfix.refuse()
    const one = await postfix.defer('hacked@acme.test', 'a@far.test')
    await postfix.defer('stolen@acme.test', 'b@far.test')
    const made = await installation()
    const env = { POSTFIX_CONFIG_DIR: postfix.configDir, SVC_COOKIE_SECURE: 'false' }
    const server = await startServer({ ...made, env })
    const owner = ownerOf(server, made)

    const database = openDatabase(runningEmbedded(made.dataDir) as Target, {
      pool: 1,
      name: 'test',
    })
    const deleting = database.db.transaction().execute(async (tx) => {
      // The transactions of the changes wait here for their events.
      await sql`lock table events in exclusive mode`.execute(tx)
      const bySender = { sender: 'stolen@acme.test', action: 'delete', dry_run: false }
      const answers = [
        owner.delete(`/api/v1/queue/message/${one}`, { reason: 'one message' }),
        owner.post('/api/v1/queue/mail-queue/by-sender', { ...bySender, reason: 'one sender' }),
      ]
      for (const answer of answers) answer.catch(() => {})
      await waitFor(async () => {
        const { body } = await owner.get('/api/v1/queue/queue/status')
        return body.data.total_messages === 0
      })
      await server.killNode()
      return Promise.allSettled(answers)
    })
    expect((await deleting).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await database.close()

    const again = await startServer({ ...made, env })
    const { body } = await ownerOf(again, made).get('/api/v1/platform/audit?per_page=100')
    const rows = (body.data.items as Record<string, unknown>[]).filter(({ action }) =>
      /^(delete_queued_message|change_queue_of_sender)$/.test(String(action)),
    )
    expect(new Set(rows)).toEqual(
      new Set([
        expect.objectContaining({
          operator_email: 'root@ops.test',
          action: 'delete_queued_message',
          target_id: one,
          status_code: 202,
          request_body: { reason: 'one message' },
        }),
        expect.objectContaining({
          action: 'change_queue_of_sender',
          status_code: 202,
          request_body: expect.objectContaining({ sender: 'stolen@acme.test' }),
        }),
      ]),
    )
    expect(await again.stop()).toMatchObject({ code: 0 })
  })

  it('is made or not made, never half, and can be repeated, wherever the server is killed', async () => {
    const postfix = await startPostfix()
    onTestFinished(() => postfix.remove())
    await postfix.refuse()
    const ids = {
      hold: await postfix.defer('one@acme.test', 'a@far.test'),
      release: await postfix.defer('two@acme.test', 'b@far.test'),
      requeue: await postfix.defer('three@acme.test', 'c@far.test'),
      delete: await postfix.defer('four@acme.test', 'd@far.test'),
    }
    const made = await installation()
    const env = { POSTFIX_CONFIG_DIR: postfix.configDir, SVC_COOKIE_SECURE: 'false' }
    const first = await startServer({ ...made, env })
    const path = (id: string) => `/api/v1/queue/message/${id}`
    const held = await ownerOf(first, made).post(`${path(ids.release)}/hold`, {
      reason: 'held for the test',
    })
    expect(held.status, held.text).toBe(200)

    const changesOf = (owner: ReturnType<typeof ownerOf>, reason: string) => [
      owner.post(`${path(ids.hold)}/hold`, { reason }),
      owner.post(`${path(ids.release)}/release`, { reason }),
      owner.post(`${path(ids.requeue)}/requeue`, { reason }),
      owner.delete(path(ids.delete), { reason }),
    ]
    /** The queue by sender: its id and whether it is on hold. */
    const queued = () =>
      Object.fromEntries(
        postfix
          .queue()
          .map(({ sender, queue_id, queue_name }) => [
            sender.split('@')[0],
            [queue_id, queue_name === 'hold'] as const,
          ]),
      )
    /** Kills the server while all changes wait for a table. */
    async function killAt(table: 'events' | 'operator_audit', server: typeof first) {
      const target = runningEmbedded(made.dataDir) as Target
      const database = openDatabase(target, { pool: 2, name: 'test' })
      const answers = await database.db.transaction().execute(async (tx) => {
        await sql`lock table ${sql.ref(table)} in exclusive mode`.execute(tx)
        const sent = changesOf(ownerOf(server, made), table)
        for (const answer of sent) answer.catch(() => {})
        await waitFor(async () => {
          const { rows } = await sql<{ waiting: number }>`
            select count(*)::int as waiting from pg_locks
            where not granted and relation = ${table}::regclass`.execute(database.db)
          return rows[0]?.waiting === sent.length
        })
        await server.killNode()
        return Promise.allSettled(sent)
      })
      await database.close()
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 'rejected'))
    }
    // Before the change is recorded, Postfix has done nothing.
    const before = queued()
    expect(before.two).toEqual([ids.release, true])
    await killAt('operator_audit', first)
    expect(queued()).toEqual(before)
    const second = await startServer({ ...made, env })

    // Afterwards Postfix has done everything, and each change is recorded.
    await killAt('events', second)
    const requeued = await waitFor(() => {
      const [id] = queued().three ?? []
      return id !== undefined && id !== ids.requeue && id
    })
    expect(queued()).toEqual({
      one: [ids.hold, true],
      two: [ids.release, false],
      three: [requeued, false],
    })
    const third = await startServer({ ...made, env })
    const { body } = await ownerOf(third, made).get('/api/v1/platform/audit?per_page=100')
    type Row = Record<'action' | 'target_id' | 'status_code', string> & {
      request_body: { reason: string } | null
    }
    const recorded = (body.data.items as Row[])
      .filter(({ request_body }) => request_body?.reason === 'events')
      .map(({ action, status_code, target_id }) => `${action} ${status_code} ${target_id}`)
    expect(recorded.sort()).toEqual([
      `delete_queued_message 202 ${ids.delete}`,
      `hold_queued_message 202 ${ids.hold}`,
      `release_queued_message 202 ${ids.release}`,
      `requeue_queued_message 202 ${ids.requeue}`,
    ])

    // Nothing is left to change for those who repeat them: no message is lost, or there twice.
    const statuses = await Promise.all(changesOf(ownerOf(third, made), 'repeated'))
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    const { one, two, three, ...more } = queued()
    expect([one, two?.[0], three?.[0], more]).toEqual([[ids.hold, true], ids.release, requeued, {}])
    expect(await third.stop()).toMatchObject({ code: 0 })
  })
})
