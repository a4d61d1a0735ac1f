import type { JmapClient } from '../../support/jmap.ts'
import { HOSTILE } from './hostile.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const REMOTE = 'https://pictures.elsewhere.test/open.png'

interface Letter {
  subject: string
  from?: string
  id?: string
  more?: string[]
  body: string
}

const letter = ({ subject, from = 'Ada <ada@elsewhere.test>', id, more = [], body }: Letter) =>
  [
    `From: ${from}`,
    'To: Jane <jane@acme.test>, Bob <bob@acme.test>',
    `Subject: ${subject}`,
    `Message-ID: <${id ?? subject.replace(/\W/g, '-')}@elsewhere.test>`,
    'Date: Sun, 15 Nov 2026 10:00:00 +0000',
    'MIME-Version: 1.0',
    ...more,
    '',
    body,
  ].join('\r\n')

const HTML = `<html><head><style>p { color: #333 }</style></head>
<body onload="top.hacked = 1"><script>top.hacked = 1; parent.hacked = 1</script>
<p>A formatted <b>letter</b></p><img src="cid:logo@x" alt="Logo" id="logo">
<img src="${REMOTE}" alt="Remote"><img src=x onerror="top.hacked = 1">
<form action="https://evil.test"><input name="password"></form>
<a href="https://linked.elsewhere.test/">A link</a></body></html>`

const newsletter = letter({
  subject: 'Newsletter',
  more: ['Content-Type: multipart/mixed; boundary=m'],
  body: [
    '--m',
    'Content-Type: multipart/related; boundary=r',
    '',
    '--r',
    'Content-Type: text/html; charset=utf-8',
    '',
    HTML,
    '--r',
    'Content-Type: image/png',
    'Content-Transfer-Encoding: base64',
    'Content-ID: <logo@x>',
    'Content-Disposition: inline',
    '',
    PIXEL,
    '--r--',
    '--m',
    'Content-Type: text/html; name=evil.html',
    'Content-Disposition: attachment; filename=evil.html',
    '',
    '<script>top.hacked = 1</script>',
    '--m--',
    '',
  ].join('\r\n'),
})

/** Messages in the inbox of a program's account, the newest last. */
export async function seedMail(client: JmapClient): Promise<void> {
  const inbox = await client.role('inbox')
  const letters = [
    ...Array.from({ length: 26 }, (_, at) =>
      letter({ subject: `Weekly report ${at + 1}`, body: `Figures of week ${at + 1}` }),
    ),
    letter({
      subject: HOSTILE[0] ?? '',
      from: `"${HOSTILE[1]?.replace(/["\\]/g, '')}" <x@y.test>`,
      id: 'h',
      body: HOSTILE.join('\r\n'),
    }),
    letter({ subject: 'Lunch', id: 'lunch-1', body: 'Shall we meet at noon?\r\n-- \r\nAda' }),
    letter({
      subject: 'Re: Lunch',
      id: 'lunch-2',
      from: 'Bob <bob@acme.test>',
      more: ['In-Reply-To: <lunch-1@elsewhere.test>', 'References: <lunch-1@elsewhere.test>'],
      body: 'I am in. See https://menu.elsewhere.test/today.',
    }),
    newsletter,
  ]
  const start = Date.parse('2026-11-15T08:00:00Z')
  const blobs = []
  for (const text of letters) blobs.push(await client.upload(text, 'message/rfc822'))
  const answer = await client.call('Email/import', {
    emails: Object.fromEntries(
      blobs.map(({ blobId }, at) => [
        `e${at}`,
        {
          blobId,
          mailboxIds: { [inbox]: true },
          receivedAt: new Date(start + at * 60_000).toISOString().replace('.000', ''),
          keywords: at < 26 ? { $seen: true } : {},
        },
      ]),
    ),
  })
  if (answer.notCreated) throw new Error(JSON.stringify(answer.notCreated))
}
