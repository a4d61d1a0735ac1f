import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { type ImapClient, openImap } from '../support/imap-client.ts'
import { type JmapClient, jmapClient } from '../support/jmap.ts'
import { ACCOUNTS } from '../support/mailboxes.ts'
import { waitFor } from '../support/wait.ts'

const JANE = 'jane@acme.test'
const BOB = 'bob@acme.test'

const letter = (subject: string, body = 'Hello.', more = '') =>
  `From: otto@elsewhere.test\r\nTo: ${JANE}\r\nSubject: ${subject}\r\n${more}\r\n${body}\r\n`

describe.skipIf(edgeMissing)(`JMAP over a real Dovecot${skipped}`, () => {
  let host: MailHost
  let app: App
  let acme: Awaited<ReturnType<App['tenant']>>
  let jane: JmapClient
  let imap: ImapClient
  let inbox: string
  beforeAll(async () => {
    host = await startMailHost()
    app = host.app
    acme = await app.tenant('acme')
    for (const email of [JANE, BOB]) {
      const made = await acme.post(ACCOUNTS, { email, password: PASSWORD, name: 'A holder' })
      expect(made.status, made.text).toBe(201)
    }
    jane = await jmapClient(app.base, JANE)
    inbox = await jane.role('inbox')
    imap = await openImap({ port: host.ports.imaps })
    expect((await imap.login(JANE, PASSWORD)).ok).toBe(true)
  })
  afterAll(async () => {
    imap?.end()
    await host?.stop()
  })

  const append = async (folder: string, text: string) => {
    const command = `APPEND "${folder}" {${Buffer.byteLength(text)}+}\r\n${text}`
    const answer = await imap.command(command)
    expect(answer.ok, answer.status).toBe(true)
  }
  const bySubject = async (subject: string, client = jane) => {
    const { ids } = await client.call('Email/query', { filter: { subject } })
    return (await client.call('Email/get', { ids })).list
  }
  const one = async (subject: string) => {
    const list = await bySubject(subject)
    expect(list).toHaveLength(1)
    return list[0]
  }
  /** Every message of the index and of the mail server, by mailbox and subject. */
  const inIndex = async (client = jane) => {
    const { list: boxes } = await client.call('Mailbox/get')
    const { ids } = await client.call('Email/query')
    const { list } = await client.call('Email/get', { ids, properties: ['subject', 'mailboxIds'] })
    const names = new Map(boxes.map(({ id, name }: { id: string; name: string }) => [id, name]))
    return list
      .flatMap(({ subject, mailboxIds }: { subject: string; mailboxIds: object }) =>
        Object.keys(mailboxIds).map((id) => `${names.get(id)}: ${subject}`),
      )
      .sort()
  }

  it('shows mail that arrives and follows what IMAP programs do', async () => {
    expect((await host.receive(JANE, 'first words', 'Some text.')).code).toBe(250)
    await waitFor(async () => (await bySubject('first words')).length === 1)
    const { state } = await jane.call('Email/get', { ids: [] })
    const email = await one('first words')
    expect(email).toMatchObject({
      preview: 'Some text.',
      keywords: {},
      mailboxIds: { [inbox]: true },
    })
    await imap.command('CREATE Archive')
    await imap.command('SELECT INBOX')
    await imap.command('STORE 1 +FLAGS (\\Seen $Work)')
    await imap.command('MOVE 1 Archive')
    const moved = await one('first words')
    const archive = (await jane.call('Mailbox/query', { filter: { name: 'Archive' } })).ids[0]
    expect(moved).toMatchObject({
      id: email.id,
      threadId: email.threadId,
      mailboxIds: { [archive]: true },
      keywords: { $seen: true, $work: true },
    })
    const changed = await jane.call('Email/changes', { sinceState: state })
    expect(changed).toMatchObject({ created: [], updated: [email.id], destroyed: [] })
    await imap.command('SELECT Archive')
    await imap.command('STORE 1 +FLAGS (\\Deleted)')
    await imap.command('EXPUNGE')
    const gone = await jane.call('Email/changes', { sinceState: state })
    expect(gone).toMatchObject({ created: [], updated: [], destroyed: [email.id] })
    expect((await jane.call('Thread/get', { ids: [email.threadId] })).list).toEqual([])
  })

  it('stores, changes and removes mail so that IMAP programs see it', async () => {
    const made = await jane.call('Mailbox/set', { create: { a: { name: 'Pläne & Ideen' } } })
    const folder = made.created.a.id
    const set = await jane.call('Email/set', {
      create: {
        d: {
          mailboxIds: { [folder]: true },
          keywords: { $draft: true },
          subject: 'a draft',
          bodyValues: { t: { value: 'Text.' } },
          textBody: [{ partId: 't' }],
        },
      },
    })
    const { id } = set.created.d
    expect((await imap.command('LIST "" "Pl*"')).lines.join()).toContain('Pl&AOQ-ne &- Ideen')
    expect(await imap.messages('Pl&AOQ-ne &- Ideen')).toHaveLength(1)
    const update = { [id]: { 'keywords/$flagged': true, mailboxIds: { [inbox]: true } } }
    expect((await jane.call('Email/set', { update })).updated).toEqual({ [id]: null })
    await imap.command('SELECT INBOX')
    const found = await imap.command('SEARCH FLAGGED DRAFT SUBJECT "a draft"')
    expect(found.lines.join()).toMatch(/SEARCH \d/)
    expect((await jane.call('Email/set', { destroy: [id] })).destroyed).toEqual([id])
    expect((await imap.messages('INBOX')).join()).not.toContain('a draft')
    expect((await jane.call('Mailbox/set', { destroy: [folder] })).destroyed).toEqual([folder])
  })

  it('sends with the rights of the holder, and hides blind copies', async () => {
    const [identity] = (await jane.call('Identity/get')).list
    expect(identity).toMatchObject({ email: JANE, mayDelete: false })
    const [drafts, sent] = [await jane.role('drafts'), await jane.role('sent')]
    const { body } = await jane.request([
      [
        'Email/set',
        {
          accountId: jane.accountId,
          create: {
            m: {
              mailboxIds: { [drafts]: true },
              keywords: { $draft: true },
              from: [{ email: JANE }],
              to: [{ email: BOB }],
              bcc: [{ email: 'hidden@outside.test' }],
              subject: 'by submission',
              bodyValues: { t: { value: 'Hello Bob.' } },
              textBody: [{ partId: 't' }],
            },
          },
        },
        'a',
      ],
      [
        'EmailSubmission/set',
        {
          accountId: jane.accountId,
          create: { s: { identityId: identity.id, emailId: '#m' } },
          onSuccessUpdateEmail: {
            '#s': {
              [`mailboxIds/${drafts}`]: null,
              [`mailboxIds/${sent}`]: true,
              'keywords/$draft': null,
            },
          },
        },
        'b',
      ],
    ])
    const [, [, submission], [, update]] = body.methodResponses
    expect(submission.notCreated, JSON.stringify(submission)).toBeNull()
    expect(Object.keys(update.updated)).toHaveLength(1)
    expect(await one('by submission')).toMatchObject({ keywords: {}, mailboxIds: { [sent]: true } })
    const text = await host.arrived(BOB, 'by submission')
    expect(text).not.toMatch(/^bcc:/im)
    const [copy] = await waitFor(() => {
      const copies = host.sink.to('hidden@outside.test')
      return copies.length > 0 && copies
    })
    expect(copy?.data).not.toMatch(/^bcc:/im)

    const emailId = (await one('by submission')).id
    const submit = async (envelope: object) =>
      (
        await jane.call('EmailSubmission/set', {
          create: { s: { identityId: identity.id, emailId, envelope } },
        })
      ).notCreated?.s.type
    const to = [{ email: BOB }]
    expect(await submit({ mailFrom: { email: BOB }, rcptTo: to })).toBe('forbiddenMailFrom')
    expect(await submit({ mailFrom: { email: JANE }, rcptTo: [] })).toBe('noRecipients')
    const broken = { mailFrom: { email: JANE }, rcptTo: [{ email: 'a@b.test>\r\nDATA' }] }
    expect(await submit(broken)).toBe('invalidRecipients')
  })

  it('answers vacations through the self-service', async () => {
    const update = {
      singleton: { isEnabled: true, textBody: 'I am away.', fromDate: '2026-01-01T00:00:00Z' },
    }
    expect((await jane.call('VacationResponse/set', { update })).updated).toEqual({
      singleton: null,
    })
    const { get } = await app.session('mailbox', jane.accountId)
    expect((await get('/api/v1/mailbox/vacation')).body.data).toMatchObject({
      enabled: true,
      message: 'I am away.',
    })
    await jane.call('VacationResponse/set', { update: { singleton: { isEnabled: false } } })
  })

  async function makeTeam(name: string) {
    const made = await acme.post('/api/v1/shared-mailboxes', { email: `${name}@acme.test`, name })
    const team = made.body.data.id as string
    return { team, members: `/api/v1/shared-mailboxes/${team}/members` }
  }

  it('offers shared mailboxes as accounts, by permission', async () => {
    const { team, members } = await makeTeam('team')
    await acme.post(members, { email_account_id: jane.accountId, permission: 'full_access' })
    const bob = await jmapClient(app.base, BOB)
    expect(await bob.call('Mailbox/get', { accountId: team })).toEqual({ type: 'accountNotFound' })
    await acme.post(members, { email_account_id: bob.accountId, permission: 'read_only' })
    expect((await jmapClient(app.base, BOB)).session.accounts[team]).toMatchObject({
      isPersonal: false,
      isReadOnly: true,
    })
    await append('INBOX', letter('for the team'))
    const { id } = await one('for the team')
    const teamInbox = await jane.role('inbox', team)
    const copied = await jane.call('Email/copy', {
      fromAccountId: jane.accountId,
      accountId: team,
      create: { c: { id, mailboxIds: { [teamInbox]: true } } },
    })
    expect(copied.created.c.id).toMatch(/^E/)
    const seen = await bob.call('Email/query', { accountId: team })
    expect(seen.ids).toEqual([copied.created.c.id])
    const refused = await bob.call('Email/set', { accountId: team, destroy: seen.ids })
    expect(refused).toEqual({ type: 'accountReadOnly' })
    const submission = await jane.call('EmailSubmission/set', { accountId: team })
    expect(submission).toEqual({ type: 'accountNotSupportedByMethod' })
  })

  it('streams the state of accounts when mail arrives', async () => {
    const ended = new AbortController()
    const url = `${app.base}/jmap/eventsource?types=Email&closeafter=state&ping=0`
    const response = await fetch(url, { headers: jane.headers, signal: ended.signal })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect((await host.receive(JANE, 'wakes the stream')).code).toBe(250)
    // `closeafter=state` ends the stream after the first change.
    const text = await response.text()
    const event = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '{}')
    expect(event).toMatchObject({
      '@type': 'StateChange',
      changed: { [jane.accountId]: { Email: expect.stringMatching(/^\d+$/) } },
    })
  })

  it('ends the stream of a holder who has left a shared mailbox, without its state', async () => {
    const { team, members } = await makeTeam('desk')
    const bob = await jmapClient(app.base, BOB)
    await acme.post(members, { email_account_id: bob.accountId, permission: 'read_only' })
    const url = `${app.base}/jmap/eventsource?types=*&closeafter=no&ping=0`
    const response = await fetch(url, { headers: bob.headers })
    expect((await acme.delete(`${members}/${bob.accountId}`)).status).toBe(200)
    expect((await host.receive('desk@acme.test', 'for members only')).code).toBe(250)
    expect(await response.text()).not.toContain(team)
    expect(await bob.call('Email/query', { accountId: team })).toEqual({ type: 'accountNotFound' })
  })

  it('makes the index of a mailbox anew when its UIDs lose their meaning', async () => {
    await imap.command('CREATE Renumbered')
    for (const at of [1, 2, 3]) await append('Renumbered', letter(`numbered ${at}`))
    const before = await bySubject('numbered')
    const validity = 1_900_000_000
    // Without plugins: the rights of the holder do not allow it.
    const config = `${host.edge.settings.folders.dovecotConfig}/dovecot.conf`
    const update = [
      'mailbox',
      'update',
      '-u',
      JANE,
      '--uid-validity',
      String(validity),
      'Renumbered',
    ]
    execFileSync('doveadm', ['-c', config, '-o', 'mail_plugins=', ...update])
    const after = await bySubject('numbered')
    const idsOf = (list: { id: string }[]) => list.map(({ id }) => id).sort()
    expect(idsOf(after)).toEqual(idsOf(before))
    const row = await app.core.db
      .selectFrom('jmap_mailboxes')
      .select('uid_validity')
      .where('path', '=', 'Renumbered')
      .executeTakeFirstOrThrow()
    expect(row.uid_validity).toBe(validity)
  })

  it('repairs an index that lacks messages or has too many', async () => {
    const expected = await inIndex()
    const places = app.core.db
    await places.deleteFrom('jmap_places').where('uid', '=', 2).execute()
    await places
      .insertInto('jmap_places')
      .values({
        account_id: jane.accountId,
        mailbox_id: inbox,
        uid: 1_000_000,
        email_id: 'E0',
        thread_id: 'T0',
        keywords: [],
      })
      .execute()
    // A change in each folder makes it look.
    for (const folder of ['INBOX', 'Renumbered']) {
      await imap.command(`SELECT ${folder}`)
      await imap.command('STORE 1 +FLAGS ($Looked)')
    }
    expect(await inIndex()).toEqual(expected)
  })

  it('reads hostile messages and stays in order', async () => {
    const parts = Array.from(
      { length: 9000 },
      () => '--x\r\nContent-Type: a/b; name="nnnnnnnnnn"\r\n\r\n',
    )
    const many = 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n'
    await append('INBOX', letter('nine thousand parts', `${parts.join('\r\n')}\r\n--x--`, many))
    await append('INBOX', letter('a long header', 'x', `X-Long: ${'y'.repeat(300_000)}\r\n`))
    await append('INBOX', letter('=?utf-8?b?////?= \ud800 \u0000'.replace('\u0000', ''), 'x'))
    const [hostile] = (await jane.call('Email/query', { filter: { subject: 'nine thousand' } })).ids
    const { list } = await jane.call('Email/get', { ids: [hostile], fetchAllBodyValues: true })
    expect(list[0]).toMatchObject({ subject: 'nine thousand parts', hasAttachment: true })
    expect(await one('a long header')).toHaveProperty('preview')
  })
})
