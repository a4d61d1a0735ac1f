import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import { type Dovecot, dovecotMissing, startDovecot } from '../support/dovecot.ts'
import { type ImapClient, signIn } from '../support/mail-program.ts'
import { insertMailbox } from '../support/mailboxes.ts'
import { waitFor } from '../support/wait.ts'

const missing = dovecotMissing()
const PATH = '/api/v1/shared-mailboxes'
const TEAM = 'Shared/team@acme.test'

describe.skipIf(missing)(
  `a shared mailbox in a real Dovecot${missing ? `: ${missing}` : ''}`,
  () => {
    let app: App
    let dovecot: Dovecot
    let acme: Awaited<ReturnType<App['tenant']>>
    let id: string
    const accounts: Record<string, { id: string; email: string; path: string }> = {}
    const clients: ImapClient[] = []
    const names = ['jane', 'john', 'mary', 'anne', 'rita']
    beforeAll(async () => {
      dovecot = await startDovecot({
        'team@acme.test': '{PLAIN}!',
        ...Object.fromEntries(names.map((name) => [`${name}@acme.test`, '{PLAIN}secret'])),
      })
      app = await startApp({ env: dovecot.env })
      acme = await app.tenant('acme')
      for (const name of names) {
        accounts[name] = await insertMailbox(app, acme, { email: `${name}@acme.test` })
      }
      id = (await acme.post(PATH, { email: 'team@acme.test', name: 'Team' })).body.data.id
    })
    afterAll(async () => {
      for (const client of clients) client.close()
      await app?.stop()
      await dovecot?.remove()
    })

    const open = async (name: string) => {
      const client = await signIn(dovecot.ports.imap, `${name}@acme.test`, 'secret')
      clients.push(client)
      return client
    }
    /** Opens a new connection each time, because changes apply to the next connection. */
    const sees = async (name: string) =>
      (await (await open(name)).run(`LIST "" "${TEAM}"`)).includes(TEAM)
    const pending = async () =>
      (await app.core.db.selectFrom('shared_mailbox_rights_pending').selectAll().execute()).length
    const synchronized = () => waitFor(async () => (await pending()) === 0)
    const member = (name: string) => `${PATH}/${id}/members/${accounts[name]?.id}`
    const add = async (name: string, permission: string) => {
      const body = { email_account_id: accounts[name]?.id, permission }
      expect((await acme.post(`${PATH}/${id}/members`, body)).status).toBe(200)
      await synchronized()
    }
    const rights = async () => {
      const [answer] = await app.core.doveadm.run([
        ['aclGet', { user: 'team@acme.test', mailbox: 'INBOX' }],
      ])
      return Object.fromEntries((answer?.rows ?? []).map((row) => [row.id, row.rights]))
    }

    it('is invisible to a user who is not a member', async () => {
      await synchronized()
      expect(await sees('jane')).toBe(false)
      expect(await (await open('jane')).isOk(`SELECT "${TEAM}"`)).toBe(false)
    })

    it('can be read and written with full access', async () => {
      await add('jane', 'full_access')
      expect(await sees('jane')).toBe(true)
      const jane = await open('jane')
      expect(await jane.isOk(`APPEND "${TEAM}"`, 'Subject: x\r\n\r\nhello\r\n')).toBe(true)
      expect(await jane.isOk(`SELECT "${TEAM}"`)).toBe(true)
      expect(await jane.isOk('STORE 1 +FLAGS (\\Flagged)')).toBe(true)
      expect(await jane.isOk(`CREATE "${TEAM}/Done"`)).toBe(true)
      expect(await sees('john')).toBe(false)
    })

    it.each([
      ['john', 'read_only'],
      ['mary', 'send_as'],
      ['anne', 'send_on_behalf'],
    ])('is read-only for %s, a member with %s', async (name, permission) => {
      await add(name, permission)
      const client = await open(name)
      expect(await client.isOk(`SELECT "${TEAM}"`)).toBe(true)
      expect(await client.run('FETCH 1 BODY.PEEK[TEXT]')).toContain('hello')
      expect(await client.isOk(`APPEND "${TEAM}"`, 'Subject: x\r\n\r\nno\r\n')).toBe(false)
      await client.run('STORE 1 +FLAGS (\\Deleted)')
      await client.run('EXPUNGE')
      expect(await client.isOk(`CREATE "${TEAM}/Mine"`)).toBe(false)
      expect(await client.isOk(`SETACL "${TEAM}" ${name}@acme.test lrwstipekxa`)).toBe(false)
      expect(await (await open('jane')).run(`STATUS "${TEAM}" (MESSAGES)`)).toContain('MESSAGES 1')
    })

    it('follows a change of permission, a suspension and a removal', async () => {
      // More folders than one request to Dovecot reads or changes.
      const made = Array.from({ length: 150 }, (_, at) => `${TEAM}/Done/${at}`)
      const maker = await open('jane')
      for (const folder of made) expect(await maker.isOk(`CREATE "${folder}"`)).toBe(true)
      await acme.put(member('jane'), { permission: 'read_only' })
      await synchronized()
      const jane = await open('jane')
      // Also in the folders that jane made.
      for (const folder of [TEAM, `${TEAM}/Done`, ...made]) {
        expect(await jane.isOk(`SELECT "${folder}"`)).toBe(true)
        expect(await jane.isOk(`APPEND "${folder}"`, 'Subject: x\r\n\r\nno\r\n')).toBe(false)
      }
      await acme.put(accounts.john?.path as string, { status: 'suspended' })
      await synchronized()
      expect(await sees('john')).toBe(false)
      await acme.put(accounts.john?.path as string, { status: 'active' })
      await synchronized()
      expect(await sees('john')).toBe(true)
      await acme.delete(member('john'))
      await synchronized()
      expect(await sees('john')).toBe(false)
      expect((await acme.delete(accounts.mary?.path as string)).status).toBe(200)
      await synchronized()
      expect(Object.keys(await rights()).sort()).toEqual([
        'user=anne@acme.test',
        'user=jane@acme.test',
      ])
    })

    it('is synchronized after an outage of Dovecot without delaying requests', async () => {
      await dovecot.stop()
      const body = { email_account_id: accounts.rita?.id, permission: 'read_only' }
      expect((await acme.post(`${PATH}/${id}/members`, body)).status).toBe(200)
      expect((await acme.delete(member('jane'))).status).toBe(200)
      expect(await pending()).toBe(1)
      await dovecot.start()
      await synchronized()
      expect(Object.keys(await rights()).sort()).toEqual([
        'user=anne@acme.test',
        'user=rita@acme.test',
      ])
    })

    it('is repaired at the next start after outside changes or an interrupted update', async () => {
      const at = { user: 'team@acme.test', mailbox: 'INBOX' }
      await app.core.doveadm.run([
        ['aclSet', { ...at, id: 'user=stranger@globex.test', right: ['lookup', 'read'] }],
        ['aclSet', { ...at, id: 'anyone', right: ['lookup', 'read'] }],
        ['aclSet', { ...at, id: 'user=anne@acme.test', right: ['lookup', 'read', 'expunge'] }],
        ['aclDelete', { ...at, id: 'user=rita@acme.test' }],
      ])
      // The mark that a process leaves when it is killed during an update.
      await sql`insert into shared_mailbox_rights_pending (email, lease_until)
      values ('team@acme.test', now() + interval '2 seconds')`.execute(app.core.db)
      const next = await startApp({ env: dovecot.env, database: app.database })
      try {
        await synchronized()
        expect(await rights()).toEqual({
          'user=anne@acme.test': 'lookup read',
          'user=rita@acme.test': 'lookup read',
        })
      } finally {
        await next.stop()
      }
    })

    it('is inaccessible after its deletion and returns without its members', async () => {
      expect((await acme.delete(`${PATH}/${id}`)).status).toBe(200)
      await synchronized()
      expect(await rights()).toEqual({})
      expect(await sees('anne')).toBe(false)
      id = (await acme.post(PATH, { email: 'team@acme.test', name: 'Team' })).body.data.id
      await add('jane', 'read_only')
      expect(await rights()).toEqual({ 'user=jane@acme.test': 'lookup read' })
    })

    it('is retried until Dovecot knows it', async () => {
      const other = (await acme.post(PATH, { email: 'new@acme.test', name: 'New' })).body.data.id
      await acme.post(`${PATH}/${other}/members`, { email_account_id: accounts.jane?.id })
      await waitFor(async () => {
        const [row] = await app.core.db
          .selectFrom('shared_mailbox_rights_pending')
          .select(['email', 'attempts'])
          .execute()
        return row?.email === 'new@acme.test' && row.attempts > 0
      })
      await acme.delete(`${PATH}/${other}`)
      await synchronized()
    })
  },
)
