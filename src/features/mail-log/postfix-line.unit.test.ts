import { describe, expect, it } from 'vitest'
import { bounceType } from './bounce-type.ts'
import { linesOf } from './lines.ts'
import { logClock } from './log-time.ts'
import { parseLine } from './postfix-line.ts'

const ID = '4jQ0zX1c7Pz9TWd'
const line = (program: string, text: string) => `Nov 15 08:00:01 mx postfix/${program}[77]: ${text}`
const parse = (program: string, text: string) => parseLine(line(program, text))
const reject = (why: string, end: string) =>
  parse('mx/smtpd', `NOQUEUE: reject: RCPT from unknown[203.0.113.9]: ${why}; ${end}`)

describe('parseLine', () => {
  it.each([
    ['that is empty', ''],
    ['of another program', 'Nov 15 08:00:01 mx dovecot: 4jQ0zX1c7Pz9TWd: removed'],
    ['without a process id', `Nov 15 08:00:01 mx postfix/qmgr: ${ID}: removed`],
    ['without a queue id', line('smtpd', 'connect from localhost[127.0.0.1]')],
    ['of a warning', line('qmgr', 'warning: removed')],
    ['with a word instead of a queue id', line('qmgr', 'statistics: removed')],
    ['of a program that does not log this', line('smtpd', `${ID}: removed`)],
    ['of a program named like a property', line('constructor', `${ID}: removed`)],
    ['with a forged program name', `Nov 15 08:00:01 mx evil postfix/qmgr[1]: ${ID}: removed`],
    [
      'of a recipient check',
      line('smtp', `${ID}: to=<a@b.test>, relay=none, delay=0, status=deliverable (ok)`),
    ],
    [
      'that ends too early',
      line('smtp', `${ID}: to=<a@b.test>, relay=mx.b.test[192.0.2.1]:25, delay=1`),
    ],
    [
      'of a reject_warning',
      line(
        'smtpd',
        `${ID}: reject_warning: RCPT from a[192.0.2.1]: 550 no; from=<a@b.test> to=<c@d.test> proto=SMTP helo=<h>`,
      ),
    ],
    [
      'of a rejection without a recipient',
      line(
        'smtpd',
        'NOQUEUE: milter-reject: EHLO from a[192.0.2.1]: 451 4.7.1 away; proto=SMTP helo=<h>',
      ),
    ],
  ])('ignores a line %s', (_, text) => {
    expect(parseLine(text)).toBeUndefined()
  })

  it.each([
    ['short', '3F2A1B09C4'],
    ['short, without digits', 'ABCDEF'],
    ['long', ID],
  ])('reads a %s queue id', (_, queueId) => {
    expect(parse('qmgr', `${queueId}: removed`)).toEqual({ kind: 'removed', queueId })
  })

  it('returns the original client of a message that returns from a filter', () => {
    const text = `${ID}: client=localhost[127.0.0.1], sasl_method=XCLIENT, sasl_username=acme-app`
    expect(parse('filtered/smtpd', `${text}, orig_client=mail.b.test[203.0.113.9]`)).toEqual({
      kind: 'client',
      queueId: ID,
      client: '203.0.113.9',
      saslUsername: 'acme-app',
    })
    const asSaid = `${text}, sasl_sender=, orig_client=x[10.0.0.1], y`
    expect(parse('smtpd', asSaid)).toMatchObject({ client: '127.0.0.1', saslUsername: 'acme-app' })
  })

  it('reads the login of a rejected message from the end of the line only', () => {
    const end = 'from=<a@b.test> to=<c@d.test> proto=ESMTP helo=<h.test>'
    const refused = reject('554 5.7.1 no', `${end} sasl_username=<acme-app>`)
    expect(refused).toMatchObject({ recipient: 'c@d.test', saslUsername: 'acme-app' })
    expect(reject('554 5.7.1 no sasl_username=<x>', end)).toMatchObject({ saslUsername: null })
  })

  it.each([
    '553 5.7.1 <x@far.test>: Sender address rejected: not owned by user acme-app',
    '450 4.7.1 <c@d.test>: Recipient address rejected: Rate limit exceeded (login acme-app)',
  ])('B4.5: reads the login from the end of the refusal %s', (why) => {
    const end = 'from=<a@b.test> to=<c@d.test> proto=ESMTP helo=<h.test>'
    expect(reject(why, end)).toMatchObject({ detail: why, saslUsername: 'acme-app' })
    // A client can put such a text only before the reason.
    const forged = `550 5.1.1 <"${why.slice(4)}"@d.test>: Recipient address rejected: unknown user`
    expect(reject(forged, end)).toMatchObject({ saslUsername: null })
    const ofTenant = `proxy-reject: END-OF-MESSAGE: 554 5.7.1 ${why}; ${end}`
    expect(parse('submission/smtpd', ofTenant)).toMatchObject({ saslUsername: null })
  })

  it.each(['554 5.7.1', '451 4.3.0'])('reads a rejection by the filter with %s', (code) => {
    const end = 'from=<a@b.test> to=<c@d.test> proto=ESMTP helo=<h> sasl_username=<acme-app>'
    const why = `${code} not: this from x[1]; from=<y> it`
    expect(parse('submission/smtpd', `proxy-reject: END-OF-MESSAGE: ${why}; ${end}`)).toEqual({
      kind: 'reject',
      queueId: 'NOQUEUE',
      sender: 'a@b.test',
      recipient: 'c@d.test',
      isTemporary: code.startsWith('4'),
      dsn: code.slice(4),
      detail: why,
      saslUsername: 'acme-app',
    })
    const accepted = `proxy-accept: END-OF-MESSAGE: 250 2.0.0 Ok: queued as ${ID}; ${end}`
    expect(parse('submission/smtpd', accepted)).toBeUndefined()
  })

  it('reads a line with an ISO 8601 time', () => {
    const text = `2026-11-15T08:00:01.123456+01:00 mx postfix/qmgr[1]: ${ID}: removed`
    expect(parseLine(text)).toEqual({ kind: 'removed', queueId: ID })
    expect(logClock(() => new Date())(text)).toBe(Date.parse('2026-11-15T07:00:01.123Z'))
  })

  it('reads all fields of a delivery', () => {
    expect(
      parse(
        'lmtp',
        `${ID}: to=<ann@acme.test>, orig_to=<info@acme.test>, relay=127.0.0.1[127.0.0.1]:24, conn_use=2, delay=0.3, delays=0.1/0/0/0.2, dsn=2.0.0, status=sent (250 2.0.0 <ann@acme.test> (x) Saved)`,
      ),
    ).toEqual({
      kind: 'delivery',
      queueId: ID,
      recipient: 'ann@acme.test',
      originalRecipient: 'info@acme.test',
      relay: '127.0.0.1[127.0.0.1]:24',
      delays: '0.1/0/0/0.2',
      dsn: '2.0.0',
      status: 'sent',
      detail: '250 2.0.0 <ann@acme.test> (x) Saved',
    })
  })

  it('keeps a reply that ends with a parenthesis and begins without one', () => {
    const fields = 'relay=mx.far.test[192.0.2.1]:25, delay=1, delays=0/0/0/1, dsn=5.0.0'
    const line = `${ID}: to=<ann@far.test>, ${fields}, status=bounced no mailbox (see log)`
    expect(parse('smtp', line)).toMatchObject({ detail: 'no mailbox (see log)' })
  })

  it('reads a rejection by postscreen, which separates fields with commas', () => {
    expect(
      parse(
        'postscreen',
        'NOQUEUE: reject: RCPT from [203.0.113.9]:4711: 550 5.7.1 Service unavailable; client [203.0.113.9] blocked; from=<a@b.test>, to=<c@d.test>, proto=ESMTP, helo=<h.test>',
      ),
    ).toMatchObject({ kind: 'reject', sender: 'a@b.test', recipient: 'c@d.test', dsn: '5.7.1' })
  })

  it.each([
    [
      'milter-reject: END-OF-MESSAGE from a[192.0.2.1]: 5.7.1 Spam; from=<a@b.test> to=<c@d.test> proto=ESMTP helo=<h>',
      false,
    ],
    [
      'milter-reject: END-OF-MESSAGE from a[192.0.2.1]: 4.7.1 Try again later; from=<a@b.test> to=<c@d.test> proto=ESMTP helo=<h>',
      true,
    ],
    [
      'reject: header Subject: 450 4.0.0 buy from a[192.0.2.1]; from=<a@b.test> to=<c@d.test> proto=ESMTP helo=<h>: 5.7.1 no thanks',
      false,
    ],
  ])('reads a rejection by cleanup: %s', (text, isTemporary) => {
    expect(parse('cleanup', `${ID}: ${text}`)).toMatchObject({
      kind: 'reject',
      sender: 'a@b.test',
      recipient: 'c@d.test',
      isTemporary,
    })
  })
})

describe('parseLine with forged text', () => {
  const FAKE = '; from=<ceo@acme.test> to=<victim@acme.test> proto=SMTP helo=<h>'

  it.each([
    ['hello'],
    [
      'hello from mail.evil.test[203.0.113.9]; from=<ceo@acme.test> to=<v@acme.test> proto=ESMTP helo=<x>',
    ],
    [
      `x\\; postfix/smtp[1]: ${ID}: to=<v@acme.test>, relay=none, delay=0, dsn=2.0.0, status=sent (ok)`,
    ],
    ['a from b'],
  ])('reads a forged subject as a subject: %s', (subject) => {
    const text = `${ID}: info: header Subject: ${subject} from mail.evil.test[203.0.113.9]; from=<a@evil.test> to=<v@acme.test> proto=ESMTP helo=<mail.evil.test>`
    expect(parse('cleanup', text)).toEqual({ kind: 'subject', queueId: ID, subject })
  })

  it('reads a forged quoted recipient as a recipient', () => {
    const address = `"a>, relay=none, delay=0, delays=0/0/0/0, dsn=2.0.0, status=sent (ok)\\" "@evil.test`
    expect(
      parse(
        'smtp',
        `${ID}: to=<${address}>, relay=mx.evil.test[203.0.113.9]:25, delay=1, delays=0/0/0/1, dsn=5.1.1, status=bounced (550 no)`,
      ),
    ).toMatchObject({
      recipient: address,
      status: 'bounced',
      relay: 'mx.evil.test[203.0.113.9]:25',
    })
  })

  it('reads a forged reply as a reply', () => {
    const said = 'host mx.evil.test[203.0.113.9] said: 550 no), status=sent (250 ok'
    expect(
      parse(
        'smtp',
        `${ID}: to=<a@evil.test>, relay=mx.evil.test[203.0.113.9]:25, delay=1, delays=0/0/0/1, dsn=5.1.1, status=bounced (${said})`,
      ),
    ).toMatchObject({ status: 'bounced', detail: said })
  })

  // Postfix quotes the address in the envelope, but not in the reply.
  it.each([
    [`x${FAKE.slice(0, -3)}`],
    [`x; from=<ceo@acme.test> to=<victim`],
    [`@b; from=<ceo@acme.test> to=<"y`],
    [`a>: no${FAKE}: `],
  ])('reads sender and recipient of a rejection with a forged address: %s', (local) => {
    const quoted = `"${local.replace(/["\\]/g, '\\$&')}"@evil.test`
    for (const [sender, recipient] of [
      ['a@evil.test', quoted],
      [quoted, 'b@acme.test'],
    ] as const) {
      const why = `554 5.7.1 <${local}@evil.test>: Relay access denied`
      const end = `from=<${sender}> to=<${recipient}> proto=ESMTP helo=<evil.test>`
      expect(reject(why, end)).toMatchObject({ sender, recipient, isTemporary: false, detail: why })
    }
  })

  it('reads no login from the AUTH= parameter', () => {
    const text = `${ID}: client=a.test[203.0.113.9], sasl_method=PLAIN, sasl_username=me, sasl_sender=x, sasl_username=victim`
    expect(parse('submission/smtpd', text)).toMatchObject({ saslUsername: 'me' })
    const other = `${ID}: client=a.test[203.0.113.9], sasl_sender=x, sasl_username=victim`
    expect(parse('smtpd', other)).toMatchObject({ saslUsername: null })
  })

  it('replaces invalid UTF-8 and NUL in lines', () => {
    const bytes = Buffer.from([0x61, 0xff, 0x00, 0xc3, 0xa9, 0x0a, 0x62])
    expect([...linesOf(bytes)]).toEqual(['a\ufffd\ufffdé', 'b'])
  })
})

describe('logClock without a year', () => {
  it.each([
    ['2026-11-15T00:00:00Z', 'Nov 15 00:00:01', '2026-11-15T00:00:01Z'],
    ['2026-11-15T00:00:00Z', 'Nov 16 00:00:00', '2026-11-16T00:00:00Z'],
    ['2026-11-15T00:00:00Z', 'Nov 16 00:00:01', '2025-11-16T00:00:01Z'],
    ['2027-01-01T00:05:00Z', 'Dec 31 23:59:59', '2026-12-31T23:59:59Z'],
    ['2026-12-31T23:59:58Z', 'Jan  1 00:00:00', '2027-01-01T00:00:00Z'],
    ['2027-03-01T00:00:00Z', 'Feb 29 12:00:00', '2024-02-29T12:00:00Z'],
  ])('read at %s, reads %s as %s', (now, text, time) => {
    const clock = logClock(() => new Date(now))
    expect(clock(`${text} mx postfix/x`)).toBe(Date.parse(time))
  })

  it.each(['Foo 15 00:00:01', 'Nov 32 00:00:01', 'Nov 15 0a:00:01'])(
    'returns no time for %s',
    (text) => {
      expect(logClock(() => new Date())(`${text} mx postfix/x`)).toBeUndefined()
    },
  )
})

describe('bounceType', () => {
  it.each([
    ['5.1.1', '550 5.1.1 No such user', 'HARD'],
    ['5.2.1', '550 5.2.1 mailbox disabled', 'HARD'],
    ['5.2.2', '552 5.2.2 mailbox full', 'SOFT'],
    ['5.7.1', '554 5.7.1 spam', 'BLOCK'],
    ['5.0.0', '554 blocked by reputation', 'BLOCK'],
    ['5.0.0', '554 transaction failed', 'HARD'],
    ['5.1.8', '550 5.1.8 sender domain not found', 'BLOCK'],
    ['5.4.4', 'Host or domain name not found', 'SOFT'],
    ['5.4.6', '550 5.4.6 too many hops', 'SOFT'],
    ['5.1.2', '550 5.1.2 bad destination system', 'SOFT'],
    [null, '550 no such domain', 'SOFT'],
    ['4.4.1', 'connection timed out', 'SOFT'],
    [null, 'expired, returned to sender', 'SOFT'],
    ['5.3.0', 'something', 'SOFT'],
  ])('of %s "%s" returns %s', (dsn, reason, type) => {
    expect(bounceType(dsn, reason)).toBe(type)
  })
})
