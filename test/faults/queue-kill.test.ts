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
})
