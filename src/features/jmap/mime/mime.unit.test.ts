import { createDecipheriv, createECDH, hkdfSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { decodeName, encodeName } from '../imap/folder-names.ts'
import { keywordsOf } from '../imap/keywords.ts'
import { readTokens } from '../imap/tokens.ts'
import { readSummary } from '../index/summary.ts'
import { encryptPush } from '../push/web-push.ts'
import { bodyLists, hasAttachment } from './body-lists.ts'
import { forms, headerProperty } from './header-forms.ts'
import { leavesOf, readTree } from './part-tree.ts'
import { roomOf } from './room.ts'
import { shownEmail } from './shown-email.ts'
import { writeMessage } from './write-message.ts'

const WANTED = {
  properties: ['subject', 'from', 'bodyValues', 'textBody', 'htmlBody', 'attachments', 'preview'],
  bodyProperties: ['partId', 'blobId', 'type', 'name', 'disposition', 'size'],
  fetchTextBodyValues: true,
  fetchHTMLBodyValues: true,
  fetchAllBodyValues: false,
  maxBodyValueBytes: 0,
}
const PLACE = { domain: 'acme.test', now: '2026-03-02T10:00:00Z' }

describe('a message that a program describes', () => {
  it('has the same text, names and attachments when it is read again', async () => {
    const email = {
      from: [{ name: 'Jörg "J" Müller', email: 'joerg@acme.test' }],
      subject: 'Grüße 🦀',
      bodyValues: { t: { value: 'Zeile 1\nZeile 2 – ä' }, h: { value: '<p>ä</p>' } },
      textBody: [{ partId: 't' }],
      htmlBody: [{ partId: 'h' }],
      attachments: [{ blobId: 'B1', type: 'application/pdf', name: 'Plan für "2026".pdf' }],
    }
    const blobs = new Map([['B1', Buffer.from([0, 1, 2, 255])]])
    const shown = await shownEmail(writeMessage(email, blobs, PLACE), WANTED, {
      blobId: 'Bx',
      room: roomOf(1e6),
    })
    expect(shown).toMatchObject({
      subject: 'Grüße 🦀',
      from: [{ name: 'Jörg "J" Müller', email: 'joerg@acme.test' }],
      preview: 'Zeile 1 Zeile 2 – ä',
      attachments: [{ type: 'application/pdf', name: 'Plan für "2026".pdf', size: 4 }],
    })
    const values = Object.values(shown.bodyValues as Record<string, { value: string }>)
    expect(values.map(({ value }) => value)).toEqual(['Zeile 1\nZeile 2 – ä', '<p>ä</p>'])
  })

  it('cannot bring further fields into the header', () => {
    const subject = 'x\r\nBcc: victim@elsewhere.test'
    const from = [{ name: 'a\r\nX-Evil: 1', email: 'a@b.test>\r\nX-Evil: 2' }]
    const text = writeMessage({ subject, from }, new Map(), PLACE).toString()
    expect(text).not.toMatch(/^(Bcc|X-Evil):/im)
  })
})

describe('the parts of a message', () => {
  it('are text or attachments by RFC 8621 section 4.1.4', async () => {
    const raw = [
      'Content-Type: multipart/mixed; boundary=m\r\n\r\n--m',
      'Content-Type: multipart/alternative; boundary=a\r\n\r\n--a',
      'Content-Type: text/plain\r\n\r\nplain\r\n--a',
      'Content-Type: text/html\r\n\r\n<p>html\r\n--a--\r\n--m',
      'Content-Type: image/png\r\nContent-Disposition: attachment; filename=x.png\r\n\r\nx\r\n--m--',
    ].join('\r\n')
    const root = await readTree(Buffer.from(raw))
    const lists = bodyLists(root)
    expect(leavesOf(root).map(({ partId }) => partId)).toEqual(['1.1', '1.2', '2'])
    expect(lists.textBody.map(({ type }) => type)).toEqual(['text/plain'])
    expect(lists.htmlBody.map(({ type }) => type)).toEqual(['text/html'])
    expect(lists.attachments.map(({ name }) => name)).toEqual(['x.png'])
    expect(hasAttachment(root)).toBe(true)
  })

  it('never throw, whatever the bytes are', async () => {
    const hostile = [
      '',
      '\r\n',
      ':\r\n:',
      'Content-Type: multipart/mixed; boundary=""\r\n\r\n--\r\n',
      `Content-Type: ${'a'.repeat(100_000)}\r\n\r\n`,
      'Subject: =?utf-8?b?/////w==?= \ud800\r\nFrom: <<>>,;:@\r\n\r\nx',
    ]
    for (const text of hostile) {
      expect(
        await shownEmail(Buffer.from(text), WANTED, { blobId: 'B', room: roomOf(1e6) }),
      ).toHaveProperty('bodyValues')
    }
  })
})

describe('header fields', () => {
  it('have the forms that RFC 8621 allows for them', () => {
    expect(headerProperty('header:Subject:asText:all')).toMatchObject({ form: 'asText', all: true })
    expect(headerProperty('header:Subject:asDate')).toBeUndefined()
    expect(headerProperty('header:X-Own:asDate')).toMatchObject({ form: 'asDate' })
    expect(headerProperty('header:a b')).toBeUndefined()
  })

  it('keep the offset of a date and the groups of addresses', () => {
    expect(forms.asDate(' Fri, 21 Nov 1997 09:55:06 -0600')).toBe('1997-11-21T09:55:06-06:00')
    expect(forms.asDate(' nonsense')).toBeNull()
    expect(forms.asGroupedAddresses(' Team: a@x.test, B <b@x.test>;, c@x.test')).toEqual([
      {
        name: 'Team',
        addresses: [
          { name: null, email: 'a@x.test' },
          { name: 'B', email: 'b@x.test' },
        ],
      },
      { name: null, addresses: [{ name: null, email: 'c@x.test' }] },
    ])
  })
})

describe('responses of the mail server', () => {
  it('are read with nested lists, strings and literals', () => {
    expect(readTokens('* 1 FETCH (A (B "c \\"d\\"") E {3} F NIL)', [Buffer.from('xyz')])).toEqual([
      '*',
      '1',
      'FETCH',
      ['A', ['B', 'c "d"'], 'E', Buffer.from('xyz'), 'F', null],
    ])
  })

  it('become a summary', () => {
    const structure =
      '(("text" "plain" ("charset" "utf-8") NIL NIL "7bit" 5 1 NIL NIL NIL NIL)("application" "pdf" NIL NIL NIL "base64" 9 NIL ("attachment" ("filename" "a.pdf")) NIL NIL) "mixed" ("boundary" "x") NIL NIL NIL)'
    const text = `* 1 FETCH (UID 7 FLAGS (\\Seen $Label \\Recent) INTERNALDATE "02-Mar-2026 10:00:00 +0100" RFC822.SIZE 900 X-GUID abc PREVIEW "Hello" BODYSTRUCTURE ${structure} BODY[HEADER.FIELDS (Subject)]<0> {52}`
    const header = Buffer.from('Subject: Re: [list] Hi\r\nMessage-ID: <a@b>\r\nTo: x@y\r\n\r\n')
    expect(readSummary({ text: `${text})`, literals: [header] })).toMatchObject({
      uid: 7,
      keywords: ['$label', '$seen'],
      receivedAt: '2026-03-02T09:00:00.000Z',
      size: 900,
      preview: 'Hello',
      subject: 'Re: [list] Hi',
      subjectSort: 'hi',
      toText: 'x@y',
      hasAttachment: true,
    })
  })

  it('have folder names in modified UTF-7', () => {
    for (const name of ['Entwürfe & mehr', '日本語', 'a&b', '🦀', 'plain']) {
      expect(decodeName(encodeName(name))).toBe(name)
    }
    expect(encodeName('Entwürfe')).toBe('Entw&APw-rfe')
    expect(keywordsOf(['\\Deleted', '\\Draft'])).toEqual(['$draft'])
  })
})

it('a push message opens with the keys of the receiver only (RFC 8291)', () => {
  const receiver = createECDH('prime256v1')
  const publicKey = receiver.generateKeys()
  const auth = Buffer.alloc(16, 7)
  const keys = { p256dh: publicKey.toString('base64url'), auth: auth.toString('base64url') }
  const sealed = encryptPush('{"a":1}', keys)
  const salt = sealed.subarray(0, 16)
  const sender = sealed.subarray(21, 21 + (sealed[20] ?? 0))
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, sender])
  const material = Buffer.from(hkdfSync('sha256', receiver.computeSecret(sender), auth, info, 32))
  const derive = (name: string, bytes: number) =>
    Buffer.from(
      hkdfSync('sha256', material, salt, Buffer.from(`Content-Encoding: ${name}\0`), bytes),
    )
  const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12))
  decipher.setAuthTag(sealed.subarray(-16))
  const opened = Buffer.concat([
    decipher.update(sealed.subarray(21 + sender.length, -16)),
    decipher.final(),
  ])
  expect(opened.toString()).toBe('{"a":1}\u0002')
})
