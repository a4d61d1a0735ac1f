import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ImapFlow } from 'imapflow'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migration } from '../../src/daemons/migration.ts'
import { type App, startApp } from '../support/app.ts'
import { type Dovecot, dovecotMissing } from '../support/dovecot.ts'
import {
  contentsOf,
  endOf,
  IMAP_PASSWORD,
  imapServer,
  inMailbox,
  letter,
  MIGRATION,
  settingsFor,
  startImport,
} from '../support/migration.ts'
import { waitFor } from '../support/wait.ts'

const missing = dovecotMissing()
const users = Array.from({ length: 20 }, (_, index) => `user${index}@acme.test`)

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
/** Bytes in buffers. Garbage is collected first when they exceed the bound. */
function held(bound: number): number {
  if (process.memoryUsage().external > bound) collect()
  return process.memoryUsage().external
}

describe.skipIf(missing)(
  `a migration between two Dovecots${missing ? ` (skipped: ${missing})` : ''}`,
  () => {
    let old: Dovecot
    let own: Dovecot
    let app: App
    let acme: Awaited<ReturnType<App['tenant']>>
    let daemon: Awaited<ReturnType<typeof migration.start>>
    let used = 0

    beforeAll(async () => {
      ;[old, own] = await Promise.all([imapServer(...users), imapServer(...users)])
      app = await startApp({ env: { ...settingsFor(own), MIGRATION_RETRIES: '2' } })
      acme = await app.tenant('acme')
      daemon = await migration.start(app.core)
    })
    afterAll(async () => {
      await daemon?.stop()
      await app?.stop()
      await Promise.all([old?.remove(), own?.remove()])
    })

    /** A separate mailbox for each test, on both servers. */
    async function mailbox() {
      const address = users[used++] as string
      const made = await acme.post('/api/v1/mailboxes/email-accounts', {
        email: address,
        password: 'Tr0ub4dor-and-3-horses',
      })
      expect(made.status).toBe(201)
      const pair = { source: old, from: address, to: address }
      return {
        pair,
        address,
        atOld: <R>(work: (client: ImapFlow) => Promise<R>) => inMailbox(old, address, work),
        atOwn: <R>(work: (client: ImapFlow) => Promise<R>) => inMailbox(own, address, work),
        oldContents: () => contentsOf(old, address),
        ownContents: () => contentsOf(own, address),
        run: async (more: object = {}) => endOf(acme, await startImport(acme, pair, more)),
        follow: async (id: string, action: string) => {
          const answer = await acme.post(`${MIGRATION}/jobs/${id}/${action}`)
          expect(answer.status).toBe(201)
          return endOf(acme, answer.body.job_id)
        },
      }
    }

    it('copies folders, flags, keywords and dates unchanged', async () => {
      const { atOld, run, oldContents, ownContents } = await mailbox()
      await atOld(async (client) => {
        const at = new Date('2019-04-05T06:07:08Z')
        await client.append('INBOX', letter(1), ['\\Seen', '\\Flagged', '$Label1', 'NonJunk'], at)
        await client.append('INBOX', letter(2), [], new Date('2001-01-02T03:04:05Z'))
        for (const path of ['Año 2020', 'Projects/A & B/Ünder', '日本語']) {
          await client.mailboxCreate(path)
          await client.append(path, letter(path.length), ['\\Answered'], at)
        }
      })
      const job = await run()
      expect(job).toMatchObject({
        status: 'completed',
        total_messages: 5,
        migrated_messages: 5,
        failed_messages: 0,
        error: null,
      })
      const [before, after] = [await oldContents(), await ownContents()]
      expect(after).toEqual(before)
      expect(after['Projects/A & B/Ünder']).toHaveLength(1)
    })

    it('maps folders and skips excluded folders', async () => {
      const { atOld, run, ownContents } = await mailbox()
      await atOld(async (client) => {
        for (const path of ['Old', 'Old/Deep', 'Spam', 'Spam/More', 'Kept']) {
          await client.mailboxCreate(path)
          await client.append(path, letter(path), [])
        }
      })
      await run({
        folder_mapping: [{ source: 'Old', target: 'Archive/2020' }],
        exclude_folders: ['Spam'],
      })
      const counts = Object.entries(await ownContents()).map(([path, messages]) => [
        path,
        messages.length,
      ])
      expect(Object.fromEntries(counts)).toMatchObject({
        'Archive/2020': 1,
        'Archive/2020/Deep': 1,
        Kept: 1,
      })
      expect(counts.flat()).not.toContain('Spam')
      expect(counts.flat()).not.toContain('Spam/More')
    })

    it('copies only new messages in a delta and updates changed flags', async () => {
      const { atOld, atOwn, run, follow, ownContents } = await mailbox()
      await atOld(async (client) => {
        for (let i = 1; i <= 3; i++) await client.append('INBOX', letter(i), ['\\Seen'])
      })
      const first = await run()
      // Deleted at the target: a delta does not restore it. Its own flags stay.
      await atOwn(async (client) => {
        await client.mailboxOpen('INBOX')
        await client.messageDelete({ header: { 'message-id': '<3@old.example>' } })
        await client.messageFlagsAdd({ header: { 'message-id': '<1@old.example>' } }, ['Mine'])
      })
      const nothing = await follow(first.job_id, 'delta')
      expect(nothing).toMatchObject({ status: 'completed', migrated_messages: 0, is_delta: true })
      await atOld(async (client) => {
        await client.append('INBOX', letter(4), [])
        await client.mailboxOpen('INBOX')
        await client.messageFlagsAdd('1', ['\\Flagged'])
        await client.messageFlagsRemove('1', ['\\Seen'])
      })
      const delta = await follow(first.job_id, 'delta')
      expect(delta).toMatchObject({
        migrated_messages: 1,
        total_messages: 1,
        parent_job_id: first.job_id,
      })
      const { INBOX = [] } = await ownContents()
      const flags = Object.fromEntries(INBOX.map((one) => [one.messageId, one.flags]))
      expect(flags).toEqual({
        '<1@old.example>': ['Mine', '\\Flagged'],
        '<2@old.example>': ['\\Seen'],
        '<4@old.example>': [],
      })
    })

    it('copies nothing twice in a second run, and restores deleted messages', async () => {
      const { atOld, atOwn, run, oldContents, ownContents } = await mailbox()
      await atOld(async (client) => {
        // Duplicates, and one without a Message-ID.
        for (const text of [letter(1), letter(1), 'Subject: bare\r\n\r\nbody\r\n']) {
          await client.append('INBOX', text, [])
        }
      })
      expect((await run()).migrated_messages).toBe(3)
      expect((await run()).migrated_messages).toBe(0)
      await atOwn(async (client) => {
        await client.mailboxOpen('INBOX')
        await client.messageDelete('2')
      })
      expect((await run()).migrated_messages).toBe(1)
      expect((await ownContents()).INBOX).toEqual((await oldContents()).INBOX)
    })

    it('recognizes its copies when its records are lost', async () => {
      const { atOld, run, oldContents, ownContents } = await mailbox()
      await atOld(async (client) => {
        for (let i = 0; i < 20; i++) await client.append('INBOX', letter(i % 15), [])
      })
      const { job_id } = await run()
      // As after a kill between the response of the target and the commit.
      const { db } = app.core
      const { pair_id } = await db
        .selectFrom('migration_jobs')
        .select('pair_id')
        .where('id', '=', job_id)
        .executeTakeFirstOrThrow()
      const { id } = await db
        .updateTable('migration_folders')
        .set({ target_floor: 1, settled: null })
        .where('pair_id', '=', pair_id)
        .where('source_path', '=', 'INBOX')
        .returning('id')
        .executeTakeFirstOrThrow()
      await db
        .deleteFrom('migration_messages')
        .where('folder_id', '=', id)
        .where('source_uid', '>', 7)
        .execute()
      await run()
      expect((await ownContents()).INBOX).toEqual((await oldContents()).INBOX)
    })

    it('copies a message of 50 MB without buffering all of it', async () => {
      const { atOld, run, oldContents, ownContents } = await mailbox()
      const line = `${'x'.repeat(76)}\r\n`
      const size = 50 * 1024 * 1024
      await atOld((client) =>
        client.append('INBOX', letter('large', line.repeat(size / line.length)), []),
      )
      const bound = held(0) + 10 * 1024 * 1024
      let most = 0
      const watch = setInterval(() => {
        most = Math.max(most, held(bound))
      }, 20)
      const job = await run()
      clearInterval(watch)
      expect(job).toMatchObject({ status: 'completed', migrated_messages: 1 })
      expect(most).toBeLessThan(bound)
      expect((await ownContents()).INBOX).toEqual((await oldContents()).INBOX)
    })

    it('exports to an outside server', async () => {
      const { atOwn, address, oldContents, ownContents } = await mailbox()
      await atOwn(async (client) => {
        await client.mailboxCreate('Work/Plans')
        await client.append('Work/Plans', letter(1), ['\\Seen'])
      })
      const { body } = await acme.post(`${MIGRATION}/export`, {
        source_email: address,
        source_password: IMAP_PASSWORD,
        target_host: '127.0.0.1',
        target_port: old.ports.imaps,
        target_tls_verify: false,
        target_username: address,
        target_password: IMAP_PASSWORD,
      })
      expect(await endOf(acme, body.job_id)).toMatchObject({
        status: 'completed',
        source_host: '127.0.0.1',
        source_username: address,
        target_email: address,
      })
      expect((await oldContents())['Work/Plans']).toEqual((await ownContents())['Work/Plans'])
    })

    it('logs in over STARTTLS when the server has no implicit TLS', async () => {
      const { atOld, run } = await mailbox()
      await atOld((client) => client.append('INBOX', letter(1), []))
      const job = await run({ source_port: old.ports.imap, source_ssl: false })
      expect(job).toMatchObject({ status: 'completed', migrated_messages: 1 })
    })

    it('fails at once when the login is refused, with a reason and without the password', async () => {
      const { run } = await mailbox()
      const wrong = await run({ source_password: 'not the password' })
      expect(wrong).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/refuses the login/),
      })
      expect(JSON.stringify(wrong)).not.toContain('not the password')
      const own = await run({ target_password: 'not the password' })
      expect(own.status).toBe('failed')
      const strict = await run({ source_tls_verify: true })
      expect(strict).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/certificate/i),
      })
    })

    it('writes the reason of a failed job into its error log (B6.3)', async () => {
      const { pair, run } = await mailbox()
      const errorsOf = async (id: string) =>
        (await acme.get(`${MIGRATION}/jobs/${id}/errors`)).body.errors
      const refused = await run({ source_password: 'not the password' })
      expect(refused.failed_messages).toBe(0)
      expect(await errorsOf(refused.job_id)).toMatchObject([
        { error_type: 'job_failed', error_message: refused.error, folder: '', retryable: false },
      ])
      const { recent_errors } = (await acme.get(`${MIGRATION}/summary`)).body
      expect(recent_errors[0]).toMatchObject({ job_id: refused.job_id, error_type: 'job_failed' })
      // The reason is there while the job still retries.
      const id = await startImport(acme, pair, { source_port: 1 })
      const [first] = await waitFor(async () => {
        const errors = await errorsOf(id)
        return errors.length > 0 && errors
      })
      expect(first).toMatchObject({ error_message: expect.stringContaining('ECONNREFUSED') })
      expect(await endOf(acme, id)).toMatchObject({ status: 'failed' })
      expect(await errorsOf(id)).toMatchObject([{ error_type: 'job_failed' }])
    })

    it('emits events at start and end', async () => {
      const { atOld, run } = await mailbox()
      await atOld((client) => client.append('INBOX', letter(1), []))
      const { job_id } = await run()
      const events = await app.core.db
        .selectFrom('events')
        .select(['event', 'data'])
        .where('domain', '=', 'acme.test')
        .orderBy('id')
        .execute()
      const mine = events.filter(({ data }) => (data as { job_id?: string }).job_id === job_id)
      expect(mine.map(({ event }) => event)).toEqual(['migration.started', 'migration.completed'])
      expect(mine[1]?.data).toMatchObject({
        final_status: 'completed',
        total_migrated: 1,
        total_failed: 0,
      })
    })
  },
)
