import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, ROOT_KEY } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { type ImapClient, openImap } from '../support/imap-client.ts'
import { type JmapClient, jmapClient } from '../support/jmap.ts'
import { startKillingProxy } from '../support/killing-proxy.ts'
import { ACCOUNTS } from '../support/mailboxes.ts'
import { cleanUp, startServer, temporaryFolder } from '../support/process.ts'
import { waitFor } from '../support/wait.ts'

const EMAIL = 'jane@acme.test'
const COUNT = 3000

describe.skipIf(edgeMissing)(`the index of JMAP with several processes${skipped}`, () => {
  let host: MailHost
  let app: App
  beforeAll(async () => {
    host = await startMailHost()
    app = host.app
    const acme = await app.tenant('acme')
    await acme.post(ACCOUNTS, { email: EMAIL, password: PASSWORD, name: 'Jane' })
    const client = await openImap({ port: host.ports.imaps })
    await client.login(EMAIL, PASSWORD)
    // RFC 3502: several messages in one command.
    const letters = Array.from({ length: COUNT }, (_, at) => {
      const text = `Subject: letter ${at}\r\nMessage-ID: <${at}@x>\r\n\r\nText.\r\n`
      return `{${text.length}+}\r\n${text}`
    })
    const appended = await client.command(`APPEND INBOX ${letters.join(' ')}`)
    expect(appended.ok, appended.status).toBe(true)
    client.end()
  })
  afterAll(async () => {
    await cleanUp()
    await host?.stop()
  })

  const worker = (databaseUrl = app.database.url) =>
    startServer({
      dataDir: temporaryFolder(),
      args: ['--services', 'jmap'],
      env: {
        DATABASE_URL: databaseUrl,
        SVC_SECRET_KEY: ROOT_KEY,
        IMAP_HOST: '127.0.0.1',
        IMAP_PORT: String(host.ports.imaps),
        IMAP_MASTER_USER: host.edge.environment.IMAP_MASTER_USER ?? '',
        IMAP_MASTER_PASSWORD: host.edge.environment.IMAP_MASTER_PASSWORD ?? '',
      },
    })
  const indexed = async () => {
    const rows = await app.core.db.selectFrom('jmap_emails').select('subject').execute()
    return rows.map(({ subject }) => subject)
  }
  const totalOf = async (client: JmapClient) =>
    (await client.call('Email/query', { limit: 1, calculateTotal: true })).total

  it('continues after kill -9 and has every message once', async () => {
    const first = await worker()
    const program = await jmapClient(first.base, EMAIL)
    void program.call('Mailbox/get').catch(() => {})
    await waitFor(async () => (await indexed()).length > 0)
    await first.killNode()

    const second = await jmapClient(app.base, EMAIL)
    await waitFor(async () => (await totalOf(second)) === COUNT)
    const subjects = await indexed()
    expect(subjects).toHaveLength(COUNT)
    expect(new Set(subjects).size).toBe(COUNT)
    const [inbox] = (await second.call('Mailbox/get')).list.filter(
      ({ role }: { role: string }) => role === 'inbox',
    )
    expect(inbox).toMatchObject({ totalEmails: COUNT, unreadEmails: COUNT, totalThreads: COUNT })
  })

  it('agrees with the mail server while two processes change one account', async () => {
    const other = await worker()
    const programs = [await jmapClient(app.base, EMAIL), await jmapClient(other.base, EMAIL)]
    const [here, there] = programs as [JmapClient, JmapClient]
    const { ids } = await here.call('Email/query', { limit: 60 })
    const { state } = await here.call('Email/get', { ids: [] })
    const destroyed = ids.slice(0, 20)
    const flagged = ids.slice(20)
    const edits = [
      ...destroyed.map((id: string) => ({ destroy: [id] })),
      ...flagged.map((id: string) => ({ update: { [id]: { 'keywords/$flagged': true } } })),
    ]
    // Each program sends one request at a time, as the limit of requests at once wants.
    await Promise.all(
      programs.map(async (program, which) => {
        for (const [at, change] of edits.entries()) {
          if (at % 2 === which) await program.call('Email/set', change)
        }
      }),
    )
    for (const client of [here, there]) {
      expect(await totalOf(client)).toBe(COUNT - destroyed.length)
      const found = await client.call('Email/query', { filter: { hasKeyword: '$flagged' } })
      expect(found.ids.toSorted()).toEqual(flagged.toSorted())
      const changes = await client.call('Email/changes', { sinceState: state })
      expect(changes.destroyed.toSorted()).toEqual(destroyed.toSorted())
      expect(changes.updated.toSorted()).toEqual(flagged.toSorted())
    }
    // Numbers of changes are given once.
    const numbers = await app.core.db
      .selectFrom('jmap_changes')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    expect(Number(numbers.count)).toBeGreaterThan(COUNT)
    expect(await other.stop()).toMatchObject({ code: 0 })
  })

  describe('when one of two processes is killed while both index the account', () => {
    let proxy: Awaited<ReturnType<typeof startKillingProxy>>
    let survivor: Awaited<ReturnType<typeof worker>>
    let client: ImapClient
    beforeAll(async () => {
      proxy = await startKillingProxy(app.database.url)
      survivor = await worker()
      client = await openImap({ port: host.ports.imaps })
      await client.login(EMAIL, PASSWORD)
      await client.command('CREATE Other')
    })
    afterAll(async () => {
      client?.end()
      await proxy?.stop()
    })

    /** Folders and flags of each message on the mail server, by subject. */
    async function onServer() {
      const found = new Map<string, { folders: string[]; keywords: string[] }>()
      for (const folder of ['INBOX', 'Other']) {
        await client.command(`SELECT ${folder}`)
        const items = '(FLAGS BODY.PEEK[HEADER.FIELDS (SUBJECT)])'
        const { lines } = await client.command(`FETCH 1:* ${items}`)
        for (const line of lines) {
          const [, flags] = /FLAGS \(([^)]*)\)/.exec(line) ?? []
          const [, subject] = /Subject: (letter \d+)/i.exec(line) ?? []
          if (subject === undefined) continue
          const one = found.get(subject) ?? { folders: [], keywords: [] }
          // A folder may have several copies.
          if (!one.folders.includes(folder)) one.folders.push(folder)
          if (flags?.includes('\\Flagged')) one.keywords = ['$flagged']
          found.set(subject, one)
        }
      }
      return found
    }

    /** The same as programs see it. */
    async function inIndex(program: JmapClient) {
      const { list: boxes } = await program.call('Mailbox/get')
      const names = new Map<string, string>(
        boxes.map(({ id, name }: { id: string; name: string }) => [id, name]),
      )
      const found = new Map<string, { folders: string[]; keywords: string[] }>()
      const { ids } = await program.call('Email/query', {})
      const properties = ['subject', 'mailboxIds', 'keywords']
      for (let at = 0; at < ids.length; at += 500) {
        const some = ids.slice(at, at + 500)
        const { list } = await program.call('Email/get', { ids: some, properties })
        for (const { subject, mailboxIds, keywords } of list) {
          expect(found.has(subject), `${subject} twice`).toBe(false)
          const folders = Object.keys(mailboxIds).map((id) => String(names.get(id)))
          found.set(subject, {
            folders: folders.map((name) => (name === 'Inbox' ? 'INBOX' : name)).sort(),
            keywords: Object.keys(keywords),
          })
        }
      }
      return { found, boxes }
    }

    it.each([
      ['before it adds messages', 'insert into jmap_emails', false],
      ['before it adds their places', 'insert into jmap_places', false],
      ['after it has added their places', 'insert into jmap_places', true],
      ['before it stores its position', 'update "jmap_mailboxes" set "uid_validity"', false],
      ['before it stores the changes', 'insert into jmap_changes', false],
      ['before it commits', 'select pg_notify', true],
      ['as it commits', 'commit', true],
    ])('%s, the index equals the mailbox', async (_title, statement, isSent) => {
      await app.core.db.deleteFrom('jmap_accounts').execute()
      const victim = await worker(proxy.url)
      const first = await jmapClient(victim.base, EMAIL)
      const second = await jmapClient(survivor.base, EMAIL)
      const index = (program: JmapClient) => void program.call('Mailbox/get').catch(() => {})
      const killed = new Promise<void>((resolve) => {
        const kill = () => void victim.killNode().then(resolve)
        // The other process reads the mailbox while this one changes the index.
        proxy.killAt({ statement, isSent, kill, begins: () => index(second) })
      })
      index(first)
      // The mailbox changes meanwhile.
      await client.command('SELECT INBOX')
      await client.command('STORE 1:40 FLAGS.SILENT (\\Flagged)')
      await client.command('COPY 30:60 Other')
      await client.command('STORE 1:5 +FLAGS.SILENT (\\Deleted)')
      expect((await client.command('EXPUNGE')).ok).toBe(true)
      await killed
      const expected = await onServer()
      await waitFor(async () => (await totalOf(second)) === expected.size)
      const { found, boxes } = await inIndex(second)
      expect(found).toEqual(expected)
      for (const { name, totalEmails } of boxes) {
        const folder = name === 'Inbox' ? 'INBOX' : name
        const there = [...expected.values()].filter(({ folders }) => folders.includes(folder))
        expect(totalEmails, name).toBe(there.length)
      }
    })
  })
})
