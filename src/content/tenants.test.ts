import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../test/support/app.ts'
import { startReinjectSink } from '../../test/support/reinject-sink.ts'
import { message, openSmtp } from '../../test/support/smtp-client.ts'
import { startContentFilter } from '../daemons/content-filter.ts'
import { dlpStage } from '../features/security/dlp/stage.ts'
import { originKey } from '../mail/origin.ts'
import type { Mail, Outcome } from './stage.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>

let app: App
let evil: Tenant
let victim: Tenant
let third: Tenant
let behind: Awaited<ReturnType<typeof startReinjectSink>>
let filter: Awaited<ReturnType<typeof startContentFilter>>
let act: (mail: Mail) => Outcome
const seen: Mail[] = []
beforeAll(async () => {
  behind = await startReinjectSink()
  const port = String(behind.port)
  app = await startApp({
    limiting: true,
    env: {
      MAIL_REINJECT_HOST: '127.0.0.1',
      MAIL_REINJECT_PORT: port,
      MAIL_FILTERED_PORT: port,
      CONTENT_FILTER_PORT: '0',
    },
  })
  evil = await app.tenant('evil')
  victim = await app.tenant('victim')
  third = await app.tenant('third')
  const stage = {
    name: 'seen',
    apply: async (mail: Mail) => {
      seen.push(mail)
      return act(mail)
    },
  }
  filter = await startContentFilter(app.core, [stage])
})
afterAll(async () => {
  await filter.stop()
  await app.stop()
  await behind.stop()
})
beforeEach(() => {
  behind.received.length = 0
  seen.length = 0
  act = (mail) => ({ kind: 'pass', mails: [mail] })
})

const originOf = (login: string) => `X-Mailplane-Origin: ${originKey(app.core.vault)} ${login}\n`

/** Submits a message as Postfix hands it to the filter; `login` undefined is mail from outside. */
async function submit(
  login: string | undefined,
  to: string | string[],
  text: string,
  from = login ?? 'x@elsewhere.test',
) {
  const postfix = await openSmtp({ port: filter.filterPort as number })
  const reply = await postfix.send({ from, to, text: (login ? originOf(login) : '') + text })
  postfix.quit()
  return reply.text
}
const mailFrom = (headers: string) => `${headers}\nSubject: x\n\nbody`
const recipients = () => behind.received.flatMap((one) => one.recipients).sort()
const stagesOf = () => seen.map((one) => [one.direction, one.organizationId, one.recipients])

async function alias(tenant: Tenant, local: string, destinations: string[]) {
  const source = `${local}@${tenant.domain}`
  const sent = { source, destination: destinations.join(',') }
  expect((await tenant.post('/api/v1/aliases/add', sent)).status).toBe(200)
  return source
}

describe('S6: the author of submitted mail', () => {
  it.each([
    'From: <ceo@victim.test>',
    'From: CEO <CEO@Victim.TEST.>',
    'From: ceo@victim.test <admin@evil.test>',
    'From: Board: ceo@victim.test;',
    'From: "c e o"@victim.test',
    'From: <admin@evil.test>\nFrom: <admin@victim.test>',
    'From: <admin@evil.test>\nSender: <admin@victim.test>',
    'From: <admin@victim.test>\nSender: <admin@evil.test>',
  ])('may not be an address of another tenant: %j', async (headers) => {
    for (const to of [victim.email, 'x@outside.test']) {
      expect(await submit(evil.email, to, mailFrom(headers))).toMatch(
        /^554 5\.7\.1 the (From|Sender) header has .*@victim\.test.*, which this login may not send as/,
      )
    }
    expect(behind.received).toEqual([])
    expect(seen).toEqual([])
  })

  it.each([
    'From: =?utf-8?q?ceo=40victim.test?=',
    'From: undisclosed',
    'From: <ceo@=?utf-8?q?victim.test?=>',
  ])('must be a plain e-mail address: %s', async (headers) => {
    expect(await submit(evil.email, victim.email, mailFrom(headers))).toMatch(/^554 5\.6\.0 /)
  })

  it('may be the login, its +detail, an address elsewhere, or missing', async () => {
    for (const headers of [
      'From: "ceo@victim.test" <Admin@evil.test>',
      'From: <admin+news@evil.test>\nSender: admin@evil.test',
      'From: <somebody@elsewhere.test>',
      'To: x',
    ]) {
      expect(await submit(evil.email, 'x@outside.test', mailFrom(headers))).toMatch(/^250 /)
    }
  })

  it('may be an alias of the mailbox, and any address of the domain of a credential', async () => {
    const own = await alias(evil, 'sales', [evil.email])
    const foreign = await alias(victim, 'leak', [evil.email])
    expect(await submit(evil.email, 'x@y.test', mailFrom(`From: ${own}`))).toMatch(/^250 /)
    expect(await submit(evil.email, 'x@y.test', mailFrom(`From: ${foreign}`))).toMatch(/^554 /)
    const made = await evil.post('/api/v1/smtp-credentials/', { domain_id: evil.domainId })
    const { username } = made.body.data
    const send = (from: string) =>
      submit(username, 'x@y.test', mailFrom(`From: ${from}`), `app@${evil.domain}`)
    expect(await send(`anything@${evil.domain}`)).toMatch(/^250 /)
    expect(await send(`anything@${victim.domain}`)).toMatch(/^554 5\.7\.1 /)
  })

  it('is not checked for mail from outside', async () => {
    expect(await submit(undefined, victim.email, mailFrom('From: ceo@victim.test'))).toMatch(
      /^250 /,
    )
  })
})

describe('B2.5: a member of a shared mailbox', () => {
  const memberOf = async (name: string, permission: string) => {
    const email = `${name}@${evil.domain}`
    const made = await evil.post('/api/v1/shared-mailboxes', { email, name })
    const account = `${name}-user@${evil.domain}`
    await evil.post('/api/v1/mailboxes/email-accounts', { email: account, password: PASSWORD })
    const member = { email_account_id: account, permission }
    const path = `/api/v1/shared-mailboxes/${made.body.data.id}/members`
    expect((await evil.post(path, member)).status).toBe(200)
    return { email, account }
  }
  const sent = async ({ email, account }: { email: string; account: string }, more = '') => {
    const text = mailFrom(`From: Desk <${email}>${more}`)
    const reply = await submit(account, 'x@outside.test', text, email)
    return { reply, content: behind.received.at(-1)?.content ?? '' }
  }

  it('is named as Sender with send_on_behalf', async () => {
    const member = await memberOf('desk', 'send_on_behalf')
    for (const more of ['', '\nSender: <desk@evil.test>', '\nSender: <desk-user@evil.test>']) {
      const { reply, content } = await sent(member, more)
      expect(reply).toMatch(/^250 /)
      expect(content.match(/^sender:.*$/gim)).toEqual([`Sender: <${member.account}>`])
      expect(content).toContain(`From: Desk <${member.email}>`)
    }
  })

  it.each(['send_as', 'full_access'])('is not named with %s', async (permission) => {
    const { reply, content } = await sent(await memberOf(permission.replace('_', '-'), permission))
    expect(reply).toMatch(/^250 /)
    expect(content).not.toMatch(/^sender:/im)
  })

  it('may not send with read_only', async () => {
    expect((await sent(await memberOf('archive', 'read_only'))).reply).toMatch(/^554 5\.7\.1 /)
  })
})

describe('S8: mail from one tenant to another', () => {
  const from = () => mailFrom(`From: ${evil.email}`)

  it('passes the outbound stages of the sender, then the inbound stages of the recipient', async () => {
    const to = [victim.email, evil.email, 'x@outside.test', third.email]
    expect(await submit(evil.email, to, from())).toMatch(/^250 /)
    expect(stagesOf()).toEqual([
      ['outbound', evil.organizationId, to],
      ['inbound', victim.organizationId, [victim.email]],
      ['inbound', third.organizationId, [third.email]],
    ])
    expect(recipients()).toEqual([...to].sort())
  })

  it('is rejected by the recipient alone, and the sender is informed', async () => {
    act = (mail) =>
      mail.direction === 'inbound'
        ? { kind: 'reject', text: 'not from you' }
        : { kind: 'pass', mails: [mail] }
    expect(await submit(evil.email, victim.email, from())).toBe('554 5.7.1 not from you')
    expect(behind.received).toEqual([])
    expect(await submit(evil.email, [victim.email, 'x@outside.test'], from())).toMatch(/^250 /)
    expect(recipients()).toEqual([evil.email, 'x@outside.test'].sort())
  })

  it('passes the stages of a tenant that an alias, a catch-all or a rule leads to', async () => {
    const list = await alias(third, 'list', [third.email, victim.email, 'x@outside.test'])
    const chain = await alias(third, 'chain', [list])
    for (const to of [list, chain, `list+news@${third.domain}`]) {
      seen.length = 0
      behind.received.length = 0
      expect(await submit(undefined, to, from())).toMatch(/^250 /)
      expect(stagesOf()).toEqual([
        ['inbound', third.organizationId, [to]],
        ['inbound', victim.organizationId, [victim.email]],
      ])
      expect(recipients()).toEqual([third.email, victim.email, 'x@outside.test'].sort())
    }
    seen.length = 0
    act = (mail) =>
      mail.organizationId === third.organizationId
        ? { kind: 'pass', mails: [{ ...mail, recipients: [victim.email] }] }
        : { kind: 'held' }
    expect(await submit(undefined, third.email, from())).toMatch(/^250 /)
    expect(stagesOf().at(-1)).toEqual(['inbound', victim.organizationId, [victim.email]])
  })

  it('passes the stages of each tenant once when aliases lead back', async () => {
    await alias(victim, 'pong', [evil.email, victim.email])
    await alias(evil, 'ping', [`pong@${victim.domain}`])
    expect(await submit(evil.email, `ping@${evil.domain}`, from())).toMatch(/^250 /)
    expect(stagesOf().map(([direction, organization]) => [direction, organization])).toEqual([
      ['outbound', evil.organizationId],
      ['inbound', victim.organizationId],
    ])
    expect(recipients()).toEqual([evil.email, victim.email])
  })
})

describe('S8: data loss prevention of the recipient', () => {
  let examined: typeof filter
  beforeAll(async () => {
    examined = await startContentFilter(app.core, [dlpStage(app.core)])
  })
  afterAll(() => examined.stop())

  const policy = async (tenant: Tenant, keyword: string, action: string, apply_to: string) => {
    const admin = await app.operator('admin')
    const made = await admin.post('/api/v1/security/dlp/policies', {
      organization_id: tenant.organizationId,
      name: `${apply_to} ${keyword}`,
      policy_type: 'keyword',
      patterns: [keyword],
      action,
      apply_to,
      reason: 'test',
    })
    expect(made.status, made.text).toBe(201)
  }
  const send = async (to: string[], body: string) => {
    const text = `${originOf(evil.email)}From: ${evil.email}\nSubject: x\n\n${body}`
    const postfix = await openSmtp({ port: examined.filterPort as number })
    const reply = await postfix.send({ from: evil.email, to, text })
    postfix.quit()
    return reply.text
  }
  const violations = async ({ organizationId }: Tenant) =>
    (
      await app.core.db
        .selectFrom('dlp_violations')
        .select(['action_taken', 'recipient'])
        .where('organization_id', '=', organizationId)
        .orderBy('id')
        .execute()
    ).map(({ action_taken, recipient }) => `${action_taken} ${recipient}`)

  it('applies to mail of another tenant, and is recorded for the recipient alone', async () => {
    await policy(victim, 'project zeus', 'block', 'inbound')
    await policy(victim, 'project hera', 'quarantine', 'inbound')
    await policy(victim, 'project pan', 'block', 'outbound')
    expect(await send([victim.email], 'about Project Zeus')).toMatch(/^554 5\.7\.1 /)
    expect(await send([victim.email], 'about project pan')).toMatch(/^250 /)
    expect(await send([third.email], 'about project zeus')).toMatch(/^250 /)
    expect(await send([victim.email, third.email], 'about project hera')).toMatch(/^250 /)
    expect(recipients()).toEqual([third.email, third.email, victim.email].sort())
    const held = await app.core.db
      .selectFrom('quarantine')
      .select(['organization_id', 'recipient', 'reason', 'login'])
      .execute()
    expect(held).toEqual([
      {
        organization_id: victim.organizationId,
        recipient: victim.email,
        reason: 'policy',
        login: null,
      },
    ])
    expect(await violations(victim)).toEqual([
      `block ${victim.email}`,
      `quarantine ${victim.email}`,
    ])
    expect(await violations(evil)).toEqual([])
    expect(await violations(third)).toEqual([])
  })

  it('applies after that of the sender, each in its own direction', async () => {
    await policy(evil, 'project ares', 'log_only', 'outbound')
    await policy(evil, 'project zeus', 'block', 'inbound')
    expect(await send([victim.email], 'project ares and project zeus')).toMatch(/^554 /)
    expect((await violations(evil)).length).toBe(1)
    expect((await violations(victim)).at(-1)).toBe(`block ${victim.email}`)
  })
})

describe('S11: recipients that an alias adds', () => {
  const BASE = '/api/v1/rate-limiter/rate-limits'
  const counted = async (tenant: Tenant, path: string) =>
    (await tenant.get(`${BASE}/${path}`)).body.data.usage.hourly_count

  it('count for the login that writes to the alias', async () => {
    const many = Array.from({ length: 30 }, (_, n) => `reader${n}@outside.test`)
    const list = await alias(evil, 'newsletter', many)
    const path = `mailbox/${evil.email}`
    const before = await counted(evil, path)
    const text = mailFrom(`From: ${evil.email}`)
    expect(await submit(evil.email, [list, 'reader1@outside.test'], text)).toMatch(/^250 /)
    // Postfix has counted two recipients; the alias has 29 others.
    expect((await counted(evil, path)) - before).toBe(28)
    expect((await evil.post(`${BASE}/${path}`, { hourly_limit: 40 })).status).toBe(200)
    expect(await submit(evil.email, list, text)).toMatch(
      /^451 4\.7\.1 Rate limit exceeded: mailbox admin@evil\.test may pass 40 recipients per hour/,
    )
  })

  it('count for the domain of the alias when the mail comes from outside', async () => {
    const many = Array.from({ length: 20 }, (_, n) => `reader${n}@outside.test`)
    const list = await alias(third, 'fans', [...many, third.email])
    const before = await counted(third, `domain/${third.domain}`)
    expect(await submit(undefined, list, mailFrom('From: x@elsewhere.test'))).toMatch(/^250 /)
    expect((await counted(third, `domain/${third.domain}`)) - before).toBe(20)
    await third.post(`${BASE}/domain/${third.domain}`, { hourly_limit: 25 })
    expect(await submit(undefined, list, mailFrom('From: x@elsewhere.test'))).toMatch(
      /^451 4\.7\.1 Rate limit exceeded: domain third\.test/,
    )
    expect(await submit(undefined, third.email, message('x@y.test', 'x', 'x'))).toMatch(/^250 /)
  })
})
