import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ulid } from '../../src/lib/ulid.ts'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn, openImap } from '../support/imap-client.ts'
import { openManageSieve } from '../support/managesieve-client.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

describe.skipIf(edgeMissing)(`two tenants on one mail host${skipped}`, () => {
  let host: MailHost
  let evil: Awaited<ReturnType<MailHost['app']['tenant']>>
  let victim: typeof evil
  let login: { username: string; secret: string }
  beforeAll(async () => {
    // The tests send faster than a mailbox may by default.
    const env = {
      MAILBOX_OUTBOUND_SECOND_DEFAULT: '100',
      DOMAIN_OUTBOUND_SECOND_DEFAULT: '100',
      ORG_OUTBOUND_SECOND_DEFAULT: '100',
    }
    host = await startMailHost({ env })
    evil = await host.app.tenant('evil')
    victim = await host.app.tenant('victim')
    const made = await evil.post('/api/v1/smtp-credentials/', { domain_id: evil.domainId })
    login = made.body.data
  })
  afterAll(() => host.stop())

  /** Submits a message with the SMTP credential of `evil`. */
  async function submit(from: string, to: string, text = message(from, to, 'x')) {
    const client = await host.submission()
    expect((await client.auth(login.username, login.secret)).code).toBe(235)
    const reply = await client.send({ from, to, text })
    client.quit()
    return reply
  }

  describe('S7: a local part with an @', () => {
    const disguised = '"x@evil.test"@victim.test'

    it('does not make the sender an address of the other tenant', async () => {
      expect((await submit(disguised, 'x@outside.test')).text).toMatch(/^554 5\.1\.7 .*an @/)
      const { rows } = await sql`select edge.sender_owners(a) as owner
        from unnest(array['x@evil.test@victim.test', '"x@evil.test"@victim.test',
          'x@victim.test@evil.test']) as a`.execute(host.app.core.db)
      expect(rows).toEqual([])
    })

    it('is refused in senders and recipients on every listener', async () => {
      expect((await submit(evil.email, disguised)).text).toMatch(/^554 5\.1\.3 .*an @/)
      for (const port of [host.ports.smtp, host.ports.internal]) {
        const client = await openSmtp({ port })
        const send = (from: string, to: string) =>
          client.send({ from, to, text: message(from, to, 'x') })
        expect((await send(disguised, victim.email)).text).toMatch(/^554 5\.1\.7 /)
        await client.say('RSET')
        // On port 25 the check for relaying comes first.
        const reply = await send(evil.email, '"a@b.test"@evil.test')
        expect(reply.text).toMatch(port === host.ports.smtp ? /^554 5\.7\.1 / : /^554 5\.1\.3 /)
        client.quit()
      }
    })

    it.each([
      'x%victim.test',
      'victim.test!x',
      'x%victim.test@evil.test@',
      '@victim.test:x@evil.test',
    ])(
      'is not replaced by routing: %s never becomes a sender of the other tenant',
      async (from) => {
        const reply = await submit(
          from,
          'routed@outside.test',
          message(evil.email, 'x@y.test', 'x'),
        )
        if (reply.code >= 500) return
        const mail = await waitFor(() => host.sink.to('routed@outside.test').at(-1))
        expect(mail.from).not.toContain('victim.test')
      },
    )
  })

  describe('S6: a submitted message', () => {
    it('with the From of another tenant is refused, and does not reach its inbox', async () => {
      const text = message(victim.email, victim.email, 'forged')
      const reply = await submit(`app@${evil.domain}`, victim.email, text)
      expect(reply.text).toMatch(
        /^554 5\.7\.1 .*From header has admin@victim\.test, which this login may not send as/,
      )
      const own = message(`app@${evil.domain}`, victim.email, 'honest')
      expect((await submit(`app@${evil.domain}`, victim.email, own)).code).toBe(250)
      await host.arrived(victim.email, 'honest')
      const inbox = await mailIn(host.ports.imaps, victim.email, PASSWORD)
      expect(inbox.join('')).not.toContain('Subject: forged')
    })

    it('has the sender as author when a service of the installation sends it', async () => {
      const client = await openSmtp({ port: host.ports.internal })
      const send = (author: string) =>
        client.send({
          from: evil.email,
          to: victim.email,
          text: message(author, victim.email, 'from a service'),
        })
      expect((await send(victim.email)).text).toMatch(/^554 5\.7\.1 /)
      expect((await send(evil.email)).code).toBe(250)
      client.quit()
      await host.arrived(victim.email, 'from a service')
    })
  })

  it('B2.5: a member with send_on_behalf is named as Sender of signed mail', async () => {
    const email = `desk@${evil.domain}`
    const made = await evil.post('/api/v1/shared-mailboxes', { email, name: 'Desk' })
    const path = `/api/v1/shared-mailboxes/${made.body.data.id}/members`
    const sent = async (permission: string, to: string) => {
      const member = { email_account_id: evil.email, permission }
      const answer =
        permission === 'send_as'
          ? await evil.put(`${path}/${evil.email}`, { permission })
          : await evil.post(path, member)
      expect(answer.status).toBe(200)
      const client = await host.submission()
      await client.auth(evil.email, PASSWORD)
      const reply = await client.send({ from: email, to, text: message(email, to, 'x') })
      client.quit()
      expect(reply.code).toBe(250)
      return (await waitFor(() => host.sink.to(to)[0])).data
    }
    expect(await sent('send_on_behalf', 'behalf@outside.test')).toContain(
      `Sender: <${evil.email}>\r\n`,
    )
    expect(await sent('send_as', 'as@outside.test')).not.toMatch(/^Sender:/m)
  })

  describe('S8: mail from one tenant to another', () => {
    const FROM = 'app@evil.test'
    const send = (subject: string, body?: string) =>
      submit(FROM, victim.email, message(FROM, victim.email, subject, body))

    it('is refused by a transport rule and a blocked sender of the recipient', async () => {
      const rule = await victim.post('/api/v1/transport-rules/', {
        name: 'No offers',
        direction: 'inbound',
        conditions: [{ field: 'subject', operator: 'contains', value: 'offer' }],
        actions: [{ type: 'reject', params: { message: 'no offers here' } }],
      })
      expect(rule.status).toBe(201)
      expect((await send('an offer')).text).toBe('554 5.7.1 no offers here')
      await host.app.core.db
        .insertInto('blocked_senders')
        .values({
          id: ulid(),
          organization_id: victim.organizationId,
          sender: 'pest@evil.test',
          reason: 'pest',
          created_by: 'test',
        })
        .execute()
      await host.app.limiter.settled()
      const pest = await submit('pest@evil.test', victim.email)
      expect(pest.text).toMatch(/^554 5\.7\.1 .*takes no mail from this sender/)
      expect((await submit('pest@evil.test', 'x@outside.test')).code).toBe(250)
    })

    it('is held by the spam quarantine of the recipient', async () => {
      const spam = 'ZJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'
      expect((await send('spam of a neighbour', spam)).code).toBe(250)
      const rows = await host.app.core.db
        .selectFrom('quarantine')
        .select(['organization_id', 'recipient', 'reason'])
        .where('subject', '=', 'spam of a neighbour')
        .execute()
      expect(rows).toEqual([
        { organization_id: victim.organizationId, recipient: victim.email, reason: 'spam' },
      ])
    })
  })

  describe('S11: mail that a mailbox filter sends', () => {
    const counted = async () => {
      const path = `/api/v1/rate-limiter/rate-limits/mailbox/${evil.email}`
      return (await evil.get(path)).body.data.usage.hourly_count as number
    }
    /** Waits until a message for a later position in the mailbox has been delivered. */
    const delivered = async (subject: string) => {
      expect((await host.receive(evil.email, subject)).code).toBe(250)
      await host.arrived(evil.email, subject)
    }
    const save = async (path: string, body: object) => {
      const session = await host.app.session('mailbox', evil.accountId)
      expect((await session.put(`/api/v1/mailbox/${path}`, body)).status).toBe(200)
    }

    it('counts for the mailbox: each redirect, until its limit is reached', async () => {
      const addresses = ['r1@outside.test', 'r2@outside.test', victim.email]
      await save('forwarding', { enabled: true, addresses })
      const before = await counted()
      await delivered('spread this')
      await waitFor(() => host.sink.to('r1@outside.test')[0] && host.sink.to('r2@outside.test')[0])
      await host.arrived(victim.email, 'spread this')
      expect((await counted()) - before).toBe(3)
      const limits = `/api/v1/rate-limiter/rate-limits/mailbox/${evil.email}`
      await evil.post(limits, { hourly_limit: before + 3 })
      expect((await host.receive(evil.email, 'too much')).code).toBe(250)
      await waitFor(() => host.log('dovecot').includes('may pass'))
      expect(host.sink.to('r1@outside.test')).toHaveLength(1)
      await evil.post(limits, { hourly_limit: 0 })
      await save('forwarding', { enabled: false, addresses })
    })

    it('passes the inbound stages of another tenant that it reaches', async () => {
      await save('forwarding', { enabled: true, addresses: [victim.email], keep_copy: true })
      await delivered('one more offer')
      await delivered('a last word')
      await host.arrived(victim.email, 'a last word')
      const inbox = await mailIn(host.ports.imaps, victim.email, PASSWORD)
      expect(inbox.join('')).not.toContain('Subject: one more offer')
      await save('forwarding', { enabled: false, addresses: [victim.email] })
    })

    it('counts a reply, which has no envelope sender and the holder as author', async () => {
      await save('vacation', { enabled: true, subject: 'Away', message: 'Back on Monday' })
      const before = await counted()
      await delivered('are you there')
      const reply = await waitFor(() => host.sink.to('somebody@elsewhere.test').at(-1))
      expect(reply).toMatchObject({ from: '', data: expect.stringContaining('Back on Monday') })
      expect((await counted()) - before).toBe(1)
      await save('vacation', { enabled: false, message: 'x' })
    })

    it('S6: cannot have another tenant as author, whatever the script says', async () => {
      const bodies = [
        'vacation :from "ceo@victim.test" "forged";',
        'vacation :mime "X-Sieve-Redirected-From: a\r\nFrom: ceo@victim.test\r\n\r\nforged";',
      ]
      for (const [index, body] of bodies.entries()) {
        await activateScript(`require "vacation";\r\n${body}`)
        const before = host.log('dovecot').match(/may not send as/g)?.length ?? 0
        const client = await openSmtp({ port: host.ports.smtp })
        const from = `asker${index}@elsewhere.test`
        const text = message(from, evil.email, `question ${index}`)
        expect((await client.send({ from, to: evil.email, text })).code).toBe(250)
        client.quit()
        await host.arrived(evil.email, `question ${index}`)
        await waitFor(() => (host.log('dovecot').match(/may not send as/g)?.length ?? 0) > before)
        expect(host.sink.to(from)).toEqual([])
      }
    })

    /** Uploads a Sieve script as the holder of the mailbox. */
    async function activateScript(script: string) {
      const client = await openManageSieve(host.ports.sieve)
      expect(await client.login(evil.email, PASSWORD)).toMatch(/^OK/)
      expect(await client.put('mine', script)).toMatch(/^OK/)
      expect((await client.command('SETACTIVE "mine"')).at(-1)).toMatch(/^OK/)
      client.end()
    }
  })

  it('S12: an IMAP user cannot put a folder into the list of another tenant', async () => {
    const holder = await openImap({ port: host.ports.imaps })
    expect((await holder.login(evil.email, PASSWORD)).ok).toBe(true)
    for (const folder of ['INBOX', 'Bait']) {
      await holder.command(`CREATE ${folder}`)
      for (const who of [victim.email, 'anyone', 'authenticated', evil.email]) {
        const set = await holder.command(`SETACL ${folder} ${who} lrwstipekxa`)
        expect(set.ok).toBe(false)
      }
    }
    holder.end()
    const reader = await openImap({ port: host.ports.imaps })
    expect((await reader.login(victim.email, PASSWORD)).ok).toBe(true)
    for (const command of ['LIST "" "*"', 'LIST "" "Shared/*"', 'LSUB "" "*"']) {
      expect((await reader.command(command)).lines.join('\n')).not.toContain('evil.test')
    }
    expect((await reader.command(`SELECT "Shared/${evil.email}/Bait"`)).ok).toBe(false)
    reader.end()
    const shares = await sql`select from edge.user_shares
      where split_part(from_user, '@', -1) <> split_part(to_user, '@', -1)
      union all select from edge.anyone_shares`.execute(host.app.core.db)
    expect(shares.rows).toEqual([])
  })
})
