import { simpleParser } from 'mailparser'
import { describe, expect, it } from 'vitest'
import { mail, manyParts, nested, SHAPES } from '../../test/support/messages.ts'
import { textOf } from './charset.ts'
import { MessageDraft } from './draft.ts'
import { decodedBody } from './encoded-body.ts'
import { MimeMessage } from './message.ts'
import { textsOf } from './texts.ts'

const shapes = Object.entries(SHAPES)
const shape = (name: string) => SHAPES[name] as Buffer
const summaryOf = (raw: Buffer) => new MimeMessage(raw).summary
const draftOf = (raw: Buffer) => new MessageDraft(new MimeMessage(raw))
const headOf = (raw: Buffer) => raw.toString('latin1').split('\r\n\r\n')[0] as string

const bodiesOf = async ({ structure }: MimeMessage) => {
  const bodies: string[] = []
  for (const part of structure.parts) bodies.push((await decodedBody(part)).toString('latin1'))
  return bodies
}

describe('parsing', () => {
  it.each(shapes)('finds parts at their offsets, in order and without overlap: %s', (_, raw) => {
    const { parts } = new MimeMessage(raw).structure
    let end = 0
    for (const { node, start, bodyStart, body, ...part } of parts) {
      expect(start).toBeGreaterThanOrEqual(end)
      expect(raw.subarray(start, bodyStart).equals(node.getHeaders())).toBe(true)
      expect(raw.subarray(bodyStart, bodyStart + body.length).equals(body)).toBe(true)
      end = node.multipart ? bodyStart : part.end
    }
    expect(end).toBeLessThanOrEqual(raw.length)
  })

  it.each(shapes)('returns the original message from a draft without changes: %s', (_, raw) => {
    const message = new MimeMessage(raw)
    expect(new MessageDraft(message).write()).toBe(message)
    const draft = new MessageDraft(message)
    draft.removeHeader('X-Missing')
    expect(draft.write().raw.equals(raw)).toBe(true)
  })

  it('keeps a part that has a header but no empty line', () => {
    const raw = mail(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Disposition: attachment; filename=a.exe',
      '--b',
      'Content-Type: text/plain',
      '',
      'second',
      '--b--',
      '',
    )
    const draft = draftOf(raw)
    draft.addHeader('X-Mark', 'yes')
    expect(draft.write().raw.toString()).toBe(`X-Mark: yes\r\n${raw}`)
    expect(summaryOf(raw).attachments).toMatchObject([{ name: 'a.exe' }])
  })

  it('accepts spaces after a boundary', async () => {
    const raw = mail(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b \t',
      'Content-Type: text/plain',
      '',
      'secret',
      '--b--  ',
      'epilogue',
    )
    const { passages } = await textsOf(new MimeMessage(raw))
    expect(passages).toEqual([{ where: 'body', text: 'secret' }])
  })

  it('decodes quoted-printable with long runs of spaces in linear time', async () => {
    const head = ['Content-Type: text/plain', 'Content-Transfer-Encoding: quoted-printable', '']
    const gap = ' '.repeat(200_000)
    const before = process.cpuUsage()
    const { passages } = await textsOf(new MimeMessage(mail(...head, `a${gap}b${gap}`, `c${gap}`)))
    expect(passages[0]?.text).toBe(`a${gap}b\r\nc`)
    // Quadratic decoding takes minutes of CPU time.
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000)
  })

  it('summarizes subject, sender, attachments and encryption', () => {
    expect(summaryOf(shape('UTF-8 in the header'))).toMatchObject({
      subject: 'Grüße',
      from: ['z@acme.test'],
      attachments: [],
    })
    expect(new MimeMessage(shape('UTF-8 in the header')).messageId).toBeNull()
    expect(summaryOf(shape('encoded words')).subject).toBe('Grüßeü(')
    const mixed = summaryOf(shape('text, HTML and an attachment'))
    const message = new MimeMessage(shape('text, HTML and an attachment'))
    expect(message.messageId).toBe('<one@acme.test>')
    expect(mixed.attachments).toEqual([
      { name: 'offer.pdf', type: 'application/pdf' },
      { name: '', type: 'message/rfc822' },
    ])
    expect(summaryOf(shape('signed with S/MIME')).attachments).toEqual([])
    expect(summaryOf(shape('encrypted with S/MIME')).isEncrypted).toBe(true)
    expect(summaryOf(shape('encrypted with OpenPGP')).isEncrypted).toBe(true)
    expect(summaryOf(shape('signed with S/MIME')).isEncrypted).toBe(false)
  })

  it.each([
    ['parts nested too deeply', nested(60)],
    ['too many parts', manyParts(600)],
    ['a header without end', mail(...Array(60_000).fill('X-Filler: 12345678'), '', 'text')],
  ])('does not read the parts of a hostile message: %s', async (_, raw) => {
    const begun = process.cpuUsage()
    const message = new MimeMessage(raw)
    const { unread } = message.structure
    expect(unread).toEqual(expect.any(String))
    expect((await textsOf(message)).unread).toBe(unread)
    const draft = new MessageDraft(message)
    expect(await draft.addDisclaimer({ text: 'x', position: 'end' })).toContain('taken apart')
    expect(draft.write().raw.equals(raw)).toBe(true)
    expect(process.cpuUsage(begun).user).toBeLessThan(5_000_000)
  })

  it('stops reading attached messages at a depth limit', async () => {
    let raw = mail('Subject: innermost', '', 'secret')
    for (let level = 0; level < 10; level++) {
      raw = Buffer.concat([mail('Content-Type: message/rfc822', '', ''), raw])
    }
    const texts = await textsOf(new MimeMessage(raw))
    expect(texts.unread).toContain('too deeply')
  })

  it('removes null characters from the subject', () => {
    const { subject } = summaryOf(mail('Subject: a\x00b =?utf-8?b?AA==?= c', '', ''))
    expect(subject).not.toContain('\0')
  })
})

describe('addHeader and removeHeader', () => {
  it.each(shapes.filter(([, raw]) => raw.length > 0))(
    'add a field on top and keep every other byte: %s',
    (_, raw) => {
      const draft = draftOf(raw)
      draft.addHeader('X-Mark', 'yes')
      const changed = draft.write().raw
      expect(changed.subarray(0, 13).toString()).toBe('X-Mark: yes\r\n')
      const complete = raw.includes('\r\n\r\n') ? raw : Buffer.concat([raw, mail('', '', '')])
      expect(changed.subarray(13).equals(complete)).toBe(true)
    },
  )

  it('add one field for a value with line breaks', async () => {
    const draft = draftOf(shape('plain text without MIME'))
    draft.addHeader('X-Mark', 'a\r\nBcc: all@acme.test\r\n\r\nbody')
    const { headerLines } = await simpleParser(draft.write().raw)
    expect(headerLines.map(({ key }) => key)).toEqual(['x-mark', 'from', 'subject'])
  })

  it('remove an added field', () => {
    const draft = draftOf(shape('plain text without MIME'))
    draft.addHeader('X-Mark', 'yes')
    draft.removeHeader('x-mark')
    expect(draft.write().raw.equals(shape('plain text without MIME'))).toBe(true)
  })
})

describe('changeSubject', () => {
  it.each<[string, object, string]>([
    ['Hello', { prefix: '[EXT] ' }, '[EXT] Hello'],
    ['[EXT] Hello', { prefix: '[EXT] ' }, '[EXT] Hello'],
    ['Hello', { suffix: ' – geprüft' }, 'Hello – geprüft'],
    ['Hello', { replace: 'Neu', prefix: '😀 ' }, '😀 Neu'],
    ['=?utf-8?b?w7w=?=', { prefix: 'a ' }, 'a ü'],
  ])('changes %s with %o to %s', async (before, change, after) => {
    const raw = mail('From: a@acme.test', `Subject: ${before}`, 'To: b@x.test', '', 'text', '')
    const draft = draftOf(raw)
    draft.changeSubject(change)
    const changed = draft.write().raw
    expect((await simpleParser(changed)).subject).toBe(after)
    // The field stays in its place, the others do not change.
    const [first, ...others] = headOf(changed).split(/\r\n(?! )/)
    expect([first, others.at(-1), others.length]).toEqual(['From: a@acme.test', 'To: b@x.test', 2])
    expect(changed.toString('latin1').endsWith('\r\n\r\ntext\r\n')).toBe(true)
  })

  it('adds a subject to a message without one', async () => {
    const draft = draftOf(mail('From: a@acme.test', '', 'text'))
    draft.changeSubject({ prefix: '[EXT]' })
    expect((await simpleParser(draft.write().raw)).subject).toBe('[EXT]')
  })
})

const sharedStart = (one: string, other: string): number => {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}
const backwards = (text: string) => text.split('').reverse().join('')
const sharedEnd = (one: string, other: string) => sharedStart(backwards(one), backwards(other))

describe('addDisclaimer', () => {
  const UNTOUCHED = [
    'signed with S/MIME',
    'encrypted with OpenPGP',
    'encrypted with S/MIME',
    'OpenPGP within the text',
    'only an attachment',
    'a boundary that never comes',
    'a header only, without its end',
    'nothing',
  ]

  for (const added of ['Private.\nDelete it.', 'Vertraulich – größte Sorgfalt 😀']) {
    for (const position of ['start', 'end'] as const) {
      it.each(shapes.filter(([name]) => !UNTOUCHED.includes(name)))(
        `inserts ${added.slice(0, 8)} at the ${position} of the texts and changes nothing else: %s`,
        async (_, raw) => {
          const before = new MimeMessage(raw)
          const draft = new MessageDraft(before)
          expect(await draft.addDisclaimer({ text: added, position })).toBeUndefined()
          const after = new MimeMessage(draft.write().raw)
          const { parts } = after.structure
          const originals = before.structure.parts
          expect(parts.length).toBe(originals.length)
          const [old, now] = [await bodiesOf(before), await bodiesOf(after)]
          let changed = 0
          for (const [index, part] of parts.entries()) {
            const original = originals[index] as (typeof originals)[number]
            if (now[index] === old[index]) {
              expect(part.node.getHeaders().equals(original.node.getHeaders())).toBe(true)
              expect(part.body.equals(original.body)).toBe(true)
              continue
            }
            changed++
            const text = textOf(Buffer.from(now[index] as string, 'latin1'), part.node.charset)
            const was = textOf(Buffer.from(old[index] as string, 'latin1'), original.node.charset)
            const lines = text.split(/<[^>]*>|\r\n/).map((line) => line.trim())
            for (const line of added.split('\n')) expect(lines).toContain(line)
            // Without the inserted text, the original remains.
            expect(sharedStart(was, text) + sharedEnd(was, text)).toBeGreaterThanOrEqual(was.length)
          }
          const texts = originals.filter((part) => {
            const type = part.node.contentType || 'text/plain'
            return type === 'text/plain' || type === 'text/html'
          })
          expect(changed).toBe(texts.length)
        },
      )
    }
  }

  it.each(UNTOUCHED)('changes no byte and returns a reason: %s', async (name) => {
    const draft = draftOf(shape(name))
    const why = await draft.addDisclaimer({ text: 'Private', position: 'end' })
    expect(why).toEqual(expect.any(String))
    expect(draft.write().raw.equals(shape(name))).toBe(true)
  })

  it('inserts into the body element of HTML', async () => {
    const draft = draftOf(shape('text, HTML and an attachment'))
    const html = '<p>Größte <b>Sorgfalt</b></p>'
    await draft.addDisclaimer({ text: 'Größte Sorgfalt', html, position: 'end' })
    const parsed = await simpleParser(draft.write().raw)
    expect(parsed.text).toContain('Hi\n\nGrößte Sorgfalt')
    expect(parsed.html).toBe(`<body class="a"><!-- </body> --><p>€ 5</p>${html}</body>`)
    expect(parsed.attachments[0]?.content.length).toBe(3000)
  })

  it('escapes plain text in HTML', async () => {
    const draft = draftOf(shape('base64 text'))
    await draft.addDisclaimer({ text: '<script>a & b</script>', position: 'start' })
    const { html } = await simpleParser(draft.write().raw)
    expect(html).toBe(
      '<html><body><p>&#60;script&#62;a &#38; b&#60;/script&#62;</p><p>Grüße</p></body></html>',
    )
  })

  it('does not insert non-ASCII text into a part with an unknown charset', async () => {
    const raw = mail('Content-Type: text/plain; charset=x-made-up', '', '\xff\xfe text', '')
    const draft = draftOf(raw)
    expect(await draft.addDisclaimer({ text: 'Grüße', position: 'end' })).toContain('charset')
    expect(draft.write().raw.equals(raw)).toBe(true)
  })
})

it('inserts two disclaimers into a part whose charset the first one changes', async () => {
  const draft = draftOf(shape('8-bit Latin-1'))
  await draft.addDisclaimer({ text: 'Erste – größte', position: 'end' })
  await draft.addDisclaimer({ text: 'Zweite – größte', position: 'end' })
  const { text } = await simpleParser(draft.write().raw)
  expect(text).toBe('Grüße\n\nErste – größte\n\nZweite – größte\n')
})

describe('textsOf', () => {
  it('reads all parts and attached messages', async () => {
    const message = new MimeMessage(shape('text, HTML and an attachment'))
    const { passages, attachments } = await textsOf(message)
    const texts = passages.map(({ where, text }) => `${where}: ${text.trim()}`)
    expect(texts[0]).toBe('subject: Hello')
    expect(texts).toContain('body: Hi')
    expect(texts.some((text) => text.includes('€ 5'))).toBe(true)
    expect(texts).toContain('attachment name: offer.pdf')
    expect(texts).toContain('subject: inside')
    expect(texts).toContain('body: project-zeus inside')
    expect(attachments).toHaveLength(2)
  })

  it.each([
    ['8-bit Latin-1', 'Grüße'],
    ['quoted-printable', 'Grüße and more'],
    ['UTF-16 text', 'Grüße'],
    ['base64 text', 'Grüße'],
  ])('decodes %s', async (name, text) => {
    const { passages } = await textsOf(new MimeMessage(shape(name)))
    expect(passages.map((one) => one.text.trim())).toContain(text)
  })

  it('joins text that inline tags split and reads comments', async () => {
    const raw = mail(
      'Content-Type: text/html',
      '',
      '<p>4111 <b>1111</b> 11<i>11</i> 1111</p><!-- hidden word --><p>a&amp;b',
    )
    const { passages } = await textsOf(new MimeMessage(raw))
    expect(passages[0]?.text).toContain('4111 1111 1111 1111')
    expect(passages[0]?.text).toContain('hidden word')
    expect(passages[0]?.text).toContain('a&b')
  })
})
