import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { openImap } from '../support/imap-client.ts'
import { type JmapClient, jmapClient } from '../support/jmap.ts'
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
    await host.stop()
  })

  const worker = () =>
    startServer({
      dataDir: temporaryFolder(),
      args: ['--services', 'jmap'],
      env: {
        DATABASE_URL: app.database.url,
        SVC_SECRET_KEY: 'a root key that all the tests have in common',
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
})
