import { expect, it } from 'vitest'
import { parseMessage } from './parse-message.ts'

it('reads headers, folded and encoded, and the plain text', () => {
  const source = [
    'From: =?utf-8?B?SsO8cmdlbg==?= <juergen@shop.example>',
    'To: jane@acme.example,',
    '\tjoe@acme.example',
    'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe_?= =?utf-8?Q?an_alle?=',
    '',
    'Hello: there',
    '',
    'Bye',
  ].join('\r\n')
  expect(parseMessage(source)).toEqual({
    from: 'Jürgen <juergen@shop.example>',
    to: 'jane@acme.example, joe@acme.example',
    cc: '',
    subject: 'Grüße an alle',
    body: 'Hello: there\n\nBye',
  })
})

it('finds the plain text of a message with parts', () => {
  const source = [
    'Subject: Parts',
    'Content-Type: multipart/alternative; boundary="b1"',
    '',
    '--b1',
    'Content-Type: text/html',
    '',
    '<p>No</p>',
    '--b1',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Caf=C3=A9 and=',
    ' more',
    '--b1--',
  ].join('\n')
  expect(parseMessage(source).body).toBe('Café and more\n')
})

it('keeps what cannot be decoded', () => {
  expect(parseMessage('Subject: =?no-such-set?B?AAAA?=').subject).toBe('=?no-such-set?B?AAAA?=')
  expect(parseMessage('just a text')).toMatchObject({ subject: '', body: '' })
})
