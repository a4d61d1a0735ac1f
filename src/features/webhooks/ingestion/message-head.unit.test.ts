import { describe, expect, it } from 'vitest'
import { readHead } from './message-head.ts'

const lines = (...all: string[]) => all.join('\r\n')

describe('readHead', () => {
  it.each([
    ['nothing at all', ''],
    ['no header', 'just text'],
    ['an empty line first', '\r\nSubject: not a header\r\n'],
    ['bytes of no message', '\x01\x02\x7f: \ud800'],
    ['colons only', ':::::\n: :\n'],
  ])('has no values for %s', (_what, eml) => {
    expect(readHead(eml)).toEqual({
      message_id: null,
      subject: null,
      from: null,
      to: null,
      has_attachments: false,
    })
  })

  it('reads header names in any case, folded values and both kinds of line ends', () => {
    const head = { message_id: '<a@b>', subject: 'one two three', from: 'A <a@b>', to: null }
    const crlf = 'SUBJECT: one\r\n two\r\n\tthree\r\nmessage-id:<a@b>\r\nFrom: A <a@b>\r\n\r\nx'
    expect(readHead(crlf)).toMatchObject(head)
    expect(readHead(crlf.replaceAll('\r', ''))).toMatchObject(head)
  })

  it('uses the first of two equal headers and none from the body', () => {
    const eml = lines('Subject: first', 'Subject: second', '', 'Message-ID: <body@b>', 'To: b@c')
    expect(readHead(eml)).toMatchObject({ subject: 'first', message_id: null, to: null })
  })

  it('removes line breaks, control characters and lone surrogates from values', () => {
    const { subject } = readHead('Subject: =?utf-8?q?a=0D=0ABcc:_x=00=1B[31m?= \ud83d\r\n\r\n')
    expect(subject).toBe('a Bcc: x [31m \ufffd')
  })

  it('reads hostile messages in linear time and limits the length of values', () => {
    const started = process.cpuUsage()
    const hostile = [
      `Subject: ${'x'.repeat(2_000_000)}`,
      `Subject: a${'\r\n b'.repeat(500_000)}`,
      `${'X'.repeat(100)}: y\r\n`.repeat(50_000),
      `Content-Type: multipart/mixed; boundary="b"\r\n\r\n${'--b\r\n'.repeat(400_000)}`,
      `Content-Type: multipart/mixed; boundary="b"\r\n\r\n${'\n--'.repeat(700_000)}`,
      `Content-Type: multipart/mixed${';'.repeat(1_000_000)}boundary="b"\r\n\r\n`,
      `Content-Type: multipart/mixed; ${'boundary= '.repeat(200_000)}\r\n\r\n`,
      `Subject: ${'=?utf-8?q?'.repeat(200_000)}`,
      `Subject: ${' \t'.repeat(400_000)}=?`,
      `--${'-'.repeat(2_000_000)}`,
    ]
    for (const eml of hostile) {
      const { subject, has_attachments } = readHead(eml)
      expect(subject?.length ?? 0).toBeLessThanOrEqual(998)
      expect(has_attachments).toBe(false)
    }
    expect(process.cpuUsage(started).user).toBeLessThan(5_000_000)
  })

  it('finds an attachment in a part and in a nested part, but not in a text', () => {
    const part = (...headers: string[]) => lines('--outer', ...headers, '', 'content')
    const message = (...parts: string[]) =>
      lines('Content-Type: multipart/mixed; boundary=outer', '', ...parts, '--outer--')
    const has = (eml: string) => readHead(eml).has_attachments

    expect(has(message(part('Content-Type: text/plain')))).toBe(false)
    expect(has(message(part('Content-Disposition: inline; filename=logo.png')))).toBe(false)
    expect(has(message(part('content-disposition:\r\n ATTACHMENT; filename=a.pdf')))).toBe(true)
    const nested = lines(
      '--outer',
      'Content-Type: multipart/related;',
      ' boundary="in ner"',
      '',
      '--in ner',
      'Content-Disposition: attachment',
    )
    expect(has(message(nested))).toBe(true)
    expect(has('Content-Disposition: attachment\r\n\r\n%PDF')).toBe(true)
    const quoted = lines('Here is what you asked:', 'Content-Disposition: attachment', '--other')
    expect(has(message(lines(part(), quoted)))).toBe(false)
    expect(
      has(lines('Content-Type: text/plain', '', '--outer', 'Content-Disposition: attachment')),
    ).toBe(false)
  })
})
