import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { type ImapClient, openImap } from '../support/imap-client.ts'
import { ACCOUNTS, NEW_PASSWORD } from '../support/mailboxes.ts'
import { waitFor } from '../support/wait.ts'

describe.skipIf(edgeMissing)(`an open session of a mail program${skipped}`, () => {
  let host: MailHost
  let owner: Awaited<ReturnType<MailHost['app']['operator']>>
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let globex: typeof acme
  let neighbour: ImapClient
  const clients: ImapClient[] = []
  beforeAll(async () => {
    host = await startMailHost()
    owner = await host.app.operator('owner')
    acme = await host.app.tenant('acme')
    globex = await host.app.tenant('globex')
    neighbour = await open(globex.email)
  })
  afterAll(async () => {
    for (const client of clients) client.end()
    await host?.stop()
  })

  async function open(email: string, password = PASSWORD): Promise<ImapClient> {
    const client = await openImap({ port: host.ports.imaps })
    clients.push(client)
    expect(await client.login(email, password)).toMatchObject({ ok: true })
    return client
  }
  const isOpen = (client: ImapClient) =>
    client.command('NOOP').then(
      ({ ok }) => ok,
      () => false,
    )
  const ended = (client: ImapClient) => waitFor(async () => !(await isOpen(client)))
  const settled = () =>
    waitFor(async () => {
      const { rows } = await sql`select from ended_logins`.execute(host.app.core.db)
      return rows.length === 0
    })
  async function make(name: string) {
    const email = `${name}@acme.test`
    const made = await acme.post(ACCOUNTS, { email, password: PASSWORD, domain_id: acme.domainId })
    expect(made.status).toBe(201)
    return { email, path: `${ACCOUNTS}/${made.body.data.id}` }
  }

  it('ends when the password is reset, and those of others stay', async () => {
    const ada = await make('ada')
    const [first, idle] = [await open(ada.email), await open(ada.email)]
    await idle.command('SELECT INBOX')
    const other = await open(acme.email)
    const reset = { new_password: NEW_PASSWORD }
    expect(await acme.post(`${ada.path}/reset-password`, reset)).toMatchObject({ status: 200 })
    for (const client of [first, idle]) await ended(client)
    await settled()
    expect([await isOpen(other), await isOpen(neighbour)]).toEqual([true, true])
    const again = await openImap({ port: host.ports.imaps })
    clients.push(again)
    expect(await again.login(ada.email, PASSWORD)).toMatchObject({ ok: false })
    expect(await isOpen(await open(ada.email, NEW_PASSWORD))).toBe(true)
  })

  it('stays when other settings of the mailbox change', async () => {
    const bea = await make('bea')
    const client = await open(bea.email)
    expect((await acme.put(bea.path, { name: 'Bea' })).status).toBe(200)
    expect((await acme.put(bea.path, { storage_quota: 1_000_000 })).status).toBe(200)
    const { rows } = await sql`select from ended_logins`.execute(host.app.core.db)
    expect(rows).toEqual([])
    expect(await isOpen(client)).toBe(true)
  })

  it('ends when the mailbox is suspended, and when it is deleted', async () => {
    const [cleo, dora] = [await make('cleo'), await make('dora')]
    const [suspended, deleted] = [await open(cleo.email), await open(dora.email)]
    expect((await acme.put(cleo.path, { status: 'suspended' })).status).toBe(200)
    expect((await acme.delete(dora.path)).status).toBe(200)
    for (const client of [suspended, deleted]) await ended(client)
    await settled()
    expect(await isOpen(neighbour)).toBe(true)
  })

  it('is not looked for when the domain of the mailbox is a pending claim', async () => {
    const claim = await globex.post('/api/v1/domains/', { domain: 'pending.example' })
    expect(claim.status).toBe(201)
    const domain_id = claim.body.data.id
    const account = { email: 'eve@pending.example', password: PASSWORD, domain_id }
    const made = await globex.post(ACCOUNTS, account)
    expect(made.status).toBe(201)
    const path = `${ACCOUNTS}/${made.body.data.id}`
    await host.app.core.db.transaction().execute(async (tx) => {
      const marks = () => sql`select from ended_logins`.execute(tx)
      await sql`update email_accounts set status = 'suspended' where email = ${account.email}`.execute(
        tx,
      )
      expect((await marks()).rows).toEqual([])
    })
    expect((await globex.delete(path)).status).toBe(200)
  })

  it('ends after the process that had begun with it was killed', async () => {
    const client = await open(acme.email)
    await sql`insert into ended_logins (login, lease_owner, lease_until)
      values (${acme.email}, 'killed', now() + interval '2 seconds')`.execute(host.app.core.db)
    await ended(client)
    await settled()
  })

  it('ends when the domain or the organization is turned off', async () => {
    const offs = [
      () => acme.put(`/api/v1/domains/${acme.domainId}`, { active: false }),
      () => owner.put(`/api/v1/organizations/${acme.organizationId}`, { active: false }),
    ]
    for (const turnOff of offs) {
      const client = await open(acme.email)
      expect(await turnOff()).toMatchObject({ status: 200 })
      await ended(client)
      await settled()
      await acme.put(`/api/v1/domains/${acme.domainId}`, { active: true })
    }
    expect(await isOpen(neighbour)).toBe(true)
  })
})
