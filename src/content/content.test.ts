import { simpleParser } from 'mailparser'
import { describe, expect, it } from 'vitest'
import { mail, manyParts, nested, SHAPES } from '../../test/support/messages.ts'
import { textOf } from './charset.ts'
import { addDisclaimer, addHeader, changeSubject, removeHeader } from './edit.ts'
import { decodedBody } from './encoding.ts'
import { readMessage } from './message.ts'
import { type Split, splitMessage } from './split.ts'
import { contentsOf } from './texts.ts'

const shapes = Object.entries(SHAPES)
const shape = (name: string) => SHAPES[name] as Buffer
const read = async (raw: Buffer) => readMessage(await splitMessage(raw), raw.length)
const headOf = (raw: Buffer) => raw.toString('latin1').split('\r\n\r\n')[0] as string

/** What each part says, by the library's own decoders. */
const bodiesOf = async (split: Split) => {
  const bodies: string[] = []
  for (const part of split.parts) bodies.push((await decodedBody(part)).toString('latin1'))
  return bodies
}

describe('a message that is taken apart', () => {
  it.each(shapes)('is the same again: %s', async (_, raw) => {
    expect((await splitMessage(raw)).join().equals(raw)).toBe(true)
  })

  it('is read like a reader reads it', async () => {
    expect(await read(shape('UTF-8 in the header'))).toMatchObject({
      subject: 'Grüße',
      from: ['z@acme.test'],
      messageId: null,
      hasAttachment: false,
    })
    expect((await read(shape('encoded words'))).subject).toBe('Grüßeü(')
    const mixed = await read(shape('text, HTML and an attachment'))
    expect(mixed).toMatchObject({ messageId: '<one@acme.test>', hasAttachment: true })
    expect(mixed.attachments).toEqual([
      { name: 'offer.pdf', type: 'application/pdf' },
      { name: '', type: 'message/rfc822' },
    ])
    expect((await read(shape('signed with S/MIME'))).hasAttachment).toBe(false)
    expect((await read(shape('encrypted with S/MIME'))).isEncrypted).toBe(true)
    expect((await read(shape('encrypted with OpenPGP'))).isEncrypted).toBe(true)
    expect((await read(shape('signed with S/MIME'))).isEncrypted).toBe(false)
  })

  it.each([
    ['parts nested too deeply', nested(60)],
    ['too many parts', manyParts(600)],
    ['a header without end', mail(...Array(60_000).fill('X-Filler: 12345678'), '', 'text')],
  ])('stays in one piece when it is hostile: %s', async (_, raw) => {
    const begun = performance.now()
    const split = await splitMessage(raw)
    expect(split.unread).toEqual(expect.any(String))
    expect(split.join().equals(raw)).toBe(true)
    expect((await contentsOf(split)).unread).toBe(split.unread)
    expect(await addDisclaimer(split, { text: 'x', position: 'end' })).toContain('taken apart')
    expect(performance.now() - begun).toBeLessThan(5000)
  })

  it('does not follow attached messages for ever', async () => {
    let raw = mail('Subject: innermost', '', 'secret')
    for (let level = 0; level < 10; level++) {
      raw = Buffer.concat([mail('Content-Type: message/rfc822', '', ''), raw])
    }
    const contents = await contentsOf(await splitMessage(raw))
    expect(contents.unread).toContain('too deeply')
  })

  it('holds no character that the database refuses', async () => {
    const { subject } = await read(mail('Subject: a\x00b =?utf-8?b?AA==?= c', '', ''))
    expect(subject).not.toContain('\0')
  })
})

describe('a header field', () => {
  it.each(shapes.filter(([, raw]) => raw.length > 0))(
    'is added on top, and every other byte stays: %s',
    async (_, raw) => {
      const split = await splitMessage(raw)
      addHeader(split, 'X-Mark', 'yes')
      const changed = split.join()
      expect(changed.subarray(0, 13).toString()).toBe('X-Mark: yes\r\n')
      const complete = raw.includes('\r\n\r\n') ? raw : Buffer.concat([raw, mail('', '', '')])
      expect(changed.subarray(13).equals(complete)).toBe(true)
    },
  )

  it('is one field, whatever it holds', async () => {
    const split = await splitMessage(shape('plain text without MIME'))
    addHeader(split, 'X-Mark', 'a\r\nBcc: all@acme.test\r\n\r\nbody')
    const { headerLines } = await simpleParser(split.join())
    expect(headerLines.map(({ key }) => key)).toEqual(['x-mark', 'from', 'subject'])
  })

  it('is taken away again', async () => {
    const split = await splitMessage(shape('plain text without MIME'))
    addHeader(split, 'X-Mark', 'yes')
    removeHeader(split, 'x-mark')
    expect(split.join().equals(shape('plain text without MIME'))).toBe(true)
  })
})

describe('the subject', () => {
  it.each<[string, object, string]>([
    ['Hello', { prefix: '[EXT] ' }, '[EXT] Hello'],
    ['[EXT] Hello', { prefix: '[EXT] ' }, '[EXT] Hello'],
    ['Hello', { suffix: ' – geprüft' }, 'Hello – geprüft'],
    ['Hello', { replace: 'Neu', prefix: '😀 ' }, '😀 Neu'],
    ['=?utf-8?b?w7w=?=', { prefix: 'a ' }, 'a ü'],
  ])('%s with %o is %s', async (before, change, after) => {
    const raw = mail('From: a@acme.test', `Subject: ${before}`, 'To: b@x.test', '', 'text', '')
    const split = await splitMessage(raw)
    changeSubject(split, change)
    const changed = split.join()
    expect((await simpleParser(changed)).subject).toBe(after)
    // In its place, and everything else as it was.
    const [first, ...others] = headOf(changed).split(/\r\n(?! )/)
    expect([first, others.at(-1), others.length]).toEqual(['From: a@acme.test', 'To: b@x.test', 2])
    expect(changed.toString('latin1').endsWith('\r\n\r\ntext\r\n')).toBe(true)
  })

  it('is there afterwards also when there was none', async () => {
    const split = await splitMessage(mail('From: a@acme.test', '', 'text'))
    changeSubject(split, { prefix: '[EXT]' })
    expect((await simpleParser(split.join())).subject).toBe('[EXT]')
  })
})

const sharedStart = (one: string, other: string): number => {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}
const backwards = (text: string) => text.split('').reverse().join('')
const sharedEnd = (one: string, other: string) => sharedStart(backwards(one), backwards(other))

describe('a disclaimer', () => {
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
        `at the ${position} (${added.slice(0, 8)}) is read in the text, and nothing else changes: %s`,
        async (_, raw) => {
          const before = await splitMessage(raw)
          const split = await splitMessage(raw)
          expect(await addDisclaimer(split, { text: added, position })).toBeUndefined()
          const after = await splitMessage(split.join())
          expect(after.parts.length).toBe(before.parts.length)
          const [old, now] = [await bodiesOf(before), await bodiesOf(after)]
          let changed = 0
          for (const [index, part] of after.parts.entries()) {
            const original = before.parts[index] as (typeof before.parts)[number]
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
            // Taken out again, it leaves what was there.
            expect(sharedStart(was, text) + sharedEnd(was, text)).toBeGreaterThanOrEqual(was.length)
          }
          const texts = before.parts.filter((part) => {
            const type = part.node.contentType || 'text/plain'
            return type === 'text/plain' || type === 'text/html'
          })
          expect(changed).toBe(texts.length)
        },
      )
    }
  }

  it.each(UNTOUCHED)('is left out, and not a byte changes: %s', async (name) => {
    const split = await splitMessage(shape(name))
    const why = await addDisclaimer(split, { text: 'Private', position: 'end' })
    expect(why).toEqual(expect.any(String))
    expect(split.join().equals(shape(name))).toBe(true)
  })

  it('is shown by a mail program, in the body of the page', async () => {
    const split = await splitMessage(shape('text, HTML and an attachment'))
    const html = '<p>Größte <b>Sorgfalt</b></p>'
    await addDisclaimer(split, { text: 'Größte Sorgfalt', html, position: 'end' })
    const parsed = await simpleParser(split.join())
    expect(parsed.text).toContain('Hi\n\nGrößte Sorgfalt')
    expect(parsed.html).toBe(`<body class="a"><!-- </body> --><p>€ 5</p>${html}</body>`)
    expect(parsed.attachments[0]?.content.length).toBe(3000)
  })

  it('cannot become markup when it is plain', async () => {
    const split = await splitMessage(shape('base64 text'))
    await addDisclaimer(split, { text: '<script>a & b</script>', position: 'start' })
    const { html } = await simpleParser(split.join())
    expect(html).toBe(
      '<html><body><p>&#60;script&#62;a &#38; b&#60;/script&#62;</p><p>Grüße</p></body></html>',
    )
  })

  it('leaves bytes of a charset that nobody knows as they are, if it is ASCII', async () => {
    const raw = mail('Content-Type: text/plain; charset=x-made-up', '', '\xff\xfe text', '')
    const split = await splitMessage(raw)
    expect(await addDisclaimer(split, { text: 'Grüße', position: 'end' })).toContain('charset')
    expect(split.join().equals(raw)).toBe(true)
  })
})

describe('text to examine', () => {
  it('is that of all parts, of attached messages too', async () => {
    const split = await splitMessage(shape('text, HTML and an attachment'))
    const { passages, attachments } = await contentsOf(split)
    const said = passages.map(({ where, text }) => `${where}: ${text.trim()}`)
    expect(said[0]).toBe('subject: Hello')
    expect(said).toContain('body: Hi')
    expect(said.some((text) => text.includes('€ 5'))).toBe(true)
    expect(said).toContain('attachment name: offer.pdf')
    expect(said).toContain('subject: inside')
    expect(said).toContain('body: project-zeus inside')
    expect(attachments).toHaveLength(2)
  })

  it.each([
    ['8-bit Latin-1', 'Grüße'],
    ['quoted-printable', 'Grüße and more'],
    ['UTF-16 text', 'Grüße'],
    ['base64 text', 'Grüße'],
  ])('is decoded: %s', async (name, text) => {
    const { passages } = await contentsOf(await splitMessage(shape(name)))
    expect(passages.map((one) => one.text.trim())).toContain(text)
  })

  it('is what HTML says, also where tags cut it up or comments hide it', async () => {
    const raw = mail(
      'Content-Type: text/html',
      '',
      '<p>4111 <b>1111</b> 11<i>11</i> 1111</p><!-- hidden word --><p>a&amp;b',
    )
    const { passages } = await contentsOf(await splitMessage(raw))
    expect(passages[0]?.text).toContain('4111 1111 1111 1111')
    expect(passages[0]?.text).toContain('hidden word')
    expect(passages[0]?.text).toContain('a&b')
  })
})
