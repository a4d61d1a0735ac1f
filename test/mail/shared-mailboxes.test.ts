import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn, openImap } from '../support/imap-client.ts'
import { message } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const SHARED = '/api/v1/shared-mailboxes'

describe.skipIf(edgeMissing)(`a shared mailbox${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  const people: Record<string, string> = {}
  beforeAll(async () => {
    host = await startMailHost()
    acme = await host.app.tenant('acme')
    for (const name of ['jane', 'joan', 'jack']) {
      people[name] = `${name}@${acme.domain}`
      const sent = { email: people[name], password: PASSWORD }
      expect((await acme.post('/api/v1/mailboxes/email-accounts', sent)).status).toBe(201)
    }
  })
  afterAll(() => host.stop())

  async function make(name: string) {
    const email = `${name}@${acme.domain}`
    const made = await acme.post(SHARED, { email, name })
    expect(made.status).toBe(201)
    return { email, path: `${SHARED}/${made.body.data.id}` }
  }

  const join = (path: string, name: string, permission: string) =>
    acme.post(`${path}/members`, { email_account_id: people[name], permission })

  /** Returns the mail that a user can read in a shared mailbox over IMAP. */
  async function seen(name: string, shared: string): Promise<string[]> {
    for (;;) {
      try {
        return await mailIn(host.ports.imaps, people[name] ?? '', PASSWORD, `Shared/${shared}`)
      } catch (error) {
        // Sessions of a member who loses rights are ended; mail programs connect again.
        if (!/hung up/.test(String(error))) throw error
      }
    }
  }

  async function send(name: string, from: string): Promise<number> {
    const client = await host.submission()
    await client.auth(people[name] ?? '', PASSWORD)
    const text = message(from, 'x@outside.test', 'as another')
    const { code } = await client.send({ from, to: 'x@outside.test', text })
    client.quit()
    return code
  }

  it('receives mail and is visible to its members only', async () => {
    const { email, path } = await make('desk')
    expect((await join(path, 'jane', 'full_access')).status).toBe(200)
    expect((await host.receive(email, 'for the desk')).code).toBe(250)
    const [mail] = await waitFor(async () => {
      const found = await seen('jane', email)
      return found.length > 0 && found
    })
    expect(mail).toContain('Subject: for the desk')
    expect(await seen('jack', email)).toEqual([])
    const client = await openImap({ port: host.ports.imaps })
    await client.login(people.jane ?? '', PASSWORD)
    expect((await client.command('LIST "" "*"')).lines.join('\n')).toContain(`Shared/${email}`)
    client.end()
    // It has no password.
    const stranger = await openImap({ port: host.ports.imaps })
    expect((await stranger.login(email, '')).ok).toBe(false)
    expect((await stranger.login(email, PASSWORD)).ok).toBe(false)
    stranger.end()
  })

  it('grants each member the rights of its permission', async () => {
    const { email, path } = await make('office')
    await join(path, 'jane', 'full_access')
    await join(path, 'joan', 'read_only')
    await join(path, 'jack', 'send_as')
    await host.receive(email, 'for the office')
    const rights = async (name: string) => {
      const client = await openImap({ port: host.ports.imaps })
      await client.login(people[name] ?? '', PASSWORD)
      await client.command(`SELECT "Shared/${email}"`)
      const { lines } = await client.command(`MYRIGHTS "Shared/${email}"`)
      const flagged = await client.command('STORE 1 +FLAGS (\\Deleted)')
      client.end()
      return { rights: lines.join(''), deletes: flagged.ok && flagged.lines.length > 0 }
    }
    await waitFor(async () => (await seen('jane', email)).length)
    await waitFor(async () => (await seen('joan', email)).length)
    expect(await rights('joan')).toMatchObject({ deletes: false })
    expect((await rights('joan')).rights).toMatch(/ lr$/)
    expect(await rights('jane')).toMatchObject({ deletes: true })

    expect(await send('jane', email)).toBe(250)
    expect(await send('jack', email)).toBe(250)
    expect(await send('joan', email)).toBe(553)
  })

  it('applies membership changes at once and keeps no member after its deletion', async () => {
    const { email, path } = await make('floor')
    await join(path, 'jane', 'read_only')
    await host.receive(email, 'for the floor')
    await waitFor(async () => (await seen('jane', email)).length)
    expect(await send('jane', email)).toBe(553)
    await acme.put(`${path}/members/${people.jane}`, { permission: 'full_access' })
    expect(await send('jane', email)).toBe(250)
    await acme.delete(`${path}/members/${people.jane}`)
    expect(await send('jane', email)).toBe(553)
    await waitFor(async () => (await seen('jane', email)).length === 0)

    await join(path, 'joan', 'full_access')
    await waitFor(async () => (await seen('joan', email)).length)
    expect((await acme.delete(path)).status).toBe(200)
    expect((await host.receive(email, 'x')).code).toBe(550)
    await waitFor(async () => (await seen('joan', email)).length === 0)
    // Created again, it is a new mailbox.
    const again = await make('floor')
    await join(again.path, 'joan', 'full_access')
    expect((await host.receive(email, 'for the new floor')).code).toBe(250)
    const mails = await waitFor(async () => {
      const found = await seen('joan', email)
      return found.length > 0 && found
    })
    expect(mails).toHaveLength(1)
    expect(mails[0]).toContain('for the new floor')
  })

  it('ends the sessions of its members when it is deleted, also after a reload of Dovecot', async () => {
    const { email, path } = await make('vault')
    await join(path, 'jane', 'full_access')
    await host.receive(email, 'for the vault')
    await waitFor(async () => (await seen('jane', email)).length)
    const [member, other] = await Promise.all(
      ['jane', 'jack'].map(async (name) => {
        const client = await openImap({ port: host.ports.imaps })
        await client.login(people[name] ?? '', PASSWORD)
        return client
      }),
    )
    expect((await member?.command(`SELECT "Shared/${email}"`))?.ok).toBe(true)
    await host.app.core.doveadm.run([['reload', {}]])
    // The address may have a new mailbox before the rights of the old one are taken away.
    expect((await acme.delete(path)).status).toBe(200)
    const again = await make('vault')
    await join(again.path, 'joan', 'full_access')
    await waitFor(async () => !(await member?.command('NOOP').catch(() => undefined)))
    expect((await other?.command('NOOP'))?.ok).toBe(true)
    other?.end()
  })

  it('is granted to members who joined while Dovecot was down', async () => {
    const { email, path } = await make('attic')
    await join(path, 'jane', 'full_access')
    await host.receive(email, 'for the attic')
    // Postfix would repeat a delivery that fails only after minutes.
    await waitFor(async () => (await seen('jane', email)).length)
    await host.down()
    expect((await join(path, 'jack', 'read_only')).status).toBe(200)
    await host.up()
    await waitFor(async () => (await seen('jack', email)).length)
  })
})
