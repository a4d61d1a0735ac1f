/** Joins lines with CRLF. */
export const mail = (...lines: string[]): Buffer => Buffer.from(lines.join('\r\n'), 'latin1')

const attachment = [
  'Content-Type: application/pdf; name="offer.pdf"',
  'Content-Disposition: attachment; filename="offer.pdf"',
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from(Array.from({ length: 3000 }, (_, index) => index % 251)).toString('base64'),
]
const head = [
  'Received: from client.example by mail.example; Sun, 15 Nov 2026 09:30:00 +0000',
  'From: Ada <ada@acme.test>',
  'To: grace@globex.test',
  'Subject: Hello',
  'Message-ID: <one@acme.test>',
  'MIME-Version: 1.0',
]
const utf8 = (text: string) => Buffer.from(text).toString('latin1')

/** Messages of many shapes, by their special property. */
export const SHAPES: Record<string, Buffer> = {
  'plain text without MIME': mail('From: ada@acme.test', 'Subject: Hello', '', 'Hi', ''),
  'no body': mail('From: ada@acme.test', 'Subject: Hello', '', ''),
  'a header only, without its end': mail('From: ada@acme.test', 'Subject: Hello'),
  'UTF-8 in the header': mail(
    utf8('Subject: Grüße'),
    utf8('From: Zoë <z@acme.test>'),
    '',
    'Hi',
    '',
  ),
  'encoded words': mail(
    'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
    ' =?iso-8859-1?b?/Cg=?=',
    '',
    'Hi',
    '',
  ),
  '8-bit Latin-1': mail(
    ...head,
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: 8bit',
    '',
    'Gr\xfc\xdfe',
    '',
  ),
  'quoted-printable': mail(
    ...head,
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Gr=C3=BC=C3=9Fe =',
    'and more=20',
    '',
  ),
  'base64 text': mail(
    ...head,
    'Content-Type: text/html; charset="UTF-8"',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from('<html><body><p>Grüße</p></body></html>').toString('base64'),
    '',
  ),
  'UTF-16 text': mail(
    ...head,
    'Content-Type: text/plain; charset=utf-16le',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from('Grüße\r\n', 'utf16le').toString('base64'),
    '',
  ),
  'text, HTML and an attachment': mail(
    ...head,
    'Content-Type: multipart/mixed; boundary="outer"',
    '',
    'For old programs.',
    '--outer',
    'Content-Type: multipart/alternative; boundary=inner',
    '',
    '--inner',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    'Hi',
    '--inner',
    'Content-Type: text/html; charset=windows-1252',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '<body class=3D"a"><!-- </body> --><p>=80 5</p></body>',
    '--inner--',
    '',
    '--outer',
    ...attachment,
    '--outer',
    'Content-Type: message/rfc822',
    '',
    'Subject: inside',
    '',
    'project-zeus inside',
    '--outer--',
    'after the end',
    '',
  ),
  'only an attachment': mail(...head, ...attachment, ''),
  'signed with S/MIME': mail(
    ...head,
    'Content-Type: multipart/signed; protocol="application/pkcs7-signature"; boundary=s',
    '',
    '--s',
    'Content-Type: text/plain',
    '',
    'Signed text',
    '--s',
    'Content-Type: application/pkcs7-signature; name=smime.p7s',
    'Content-Transfer-Encoding: base64',
    '',
    'AAECAwQ=',
    '--s--',
    '',
  ),
  'encrypted with OpenPGP': mail(
    ...head,
    'Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=e',
    '',
    '--e',
    'Content-Type: application/pgp-encrypted',
    '',
    'Version: 1',
    '--e',
    'Content-Type: application/octet-stream',
    '',
    '-----BEGIN PGP MESSAGE-----',
    '-----END PGP MESSAGE-----',
    '--e--',
    '',
  ),
  'encrypted with S/MIME': mail(
    ...head,
    'Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m',
    'Content-Transfer-Encoding: base64',
    '',
    'AAECAwQ=',
    '',
  ),
  'OpenPGP within the text': mail(
    ...head,
    'Content-Type: text/plain',
    '',
    '-----BEGIN PGP SIGNED MESSAGE-----',
    'Hash: SHA256',
    '',
    'Hi',
    '',
  ),
  'a boundary that never comes': mail(
    ...head,
    'Content-Type: multipart/mixed; boundary=never',
    '',
    'lost text',
    '',
  ),
  'a multipart that does not end': mail(
    ...head,
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'cut of',
  ),
  'header fields that are none': mail('Subject Hello', ' folded', ': x', '', 'text', ''),
  nothing: Buffer.alloc(0),
}

/** Deeply nested parts. */
export const nested = (depth: number): Buffer => {
  const lines = ['Subject: deep']
  for (let level = 0; level < depth; level++) {
    lines.push(`Content-Type: multipart/mixed; boundary=b${level}`, '', `--b${level}`)
  }
  return mail(...lines, 'Content-Type: text/plain', '', 'deep text', '')
}

/** A very large number of parts. */
export const manyParts = (count: number): Buffer =>
  mail(
    'Subject: many',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    ...Array.from({ length: count }, () => ['--b', 'Content-Type: text/plain', '', 'x']).flat(),
    '--b--',
    '',
  )
