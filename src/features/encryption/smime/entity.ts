import { randomBytes } from 'node:crypto'
import { MimeMessage } from '../../../mime/message.ts'
import { Refused } from '../answer.ts'
import { base64Lines, pemBlocks } from './asn1.ts'

/** Text as it is signed and encrypted: with the line breaks of mail (RFC 8551 §3.1.1). */
export const canonical = (text: string): Buffer => Buffer.from(text.replace(/\r?\n/g, '\r\n'))

/** The header and body of an encrypted message, without fields of a mail. */
export const encryptedEntity = (bytes: Buffer, isGcm = false): string =>
  [
    `Content-Type: application/pkcs7-mime; smime-type=${isGcm ? 'authEnveloped' : 'enveloped'}-data;`,
    ' name="smime.p7m"',
    'Content-Disposition: attachment; filename="smime.p7m"',
    'Content-Transfer-Encoding: base64',
    '',
    base64Lines(bytes),
    '',
  ].join('\r\n')

export function signedEntity(content: Buffer, signature: Buffer): string {
  const boundary = `signed-${randomBytes(12).toString('hex')}`
  return [
    'MIME-Version: 1.0',
    'Content-Type: multipart/signed; protocol="application/pkcs7-signature";',
    ` micalg="sha-256"; boundary="${boundary}"`,
    '',
    'This is an S/MIME signed message.',
    `--${boundary}`,
    content.toString(),
    `--${boundary}`,
    'Content-Type: application/pkcs7-signature; name="smime.p7s"',
    'Content-Disposition: attachment; filename="smime.p7s"',
    'Content-Transfer-Encoding: base64',
    '',
    base64Lines(signature),
    '',
    `--${boundary}--`,
    '',
  ].join('\r\n')
}

/** CMS within a message, and the content beside it. */
export interface Found {
  bytes: Buffer
  beside?: Buffer
}

const PEM = /^(CMS|PKCS7|PKCS #7 SIGNED DATA)$/

/** Finds CMS in a text: a PEM block, application/pkcs7-mime, or multipart/signed. */
export function cmsIn(raw: Buffer): Found | undefined {
  const text = raw.toString('latin1')
  const [block] = text.trimStart().startsWith('-----BEGIN ') ? pemBlocks(text, PEM) : []
  if (block) return block
  const { root, parts } = new MimeMessage(raw).structure
  if (/^application\/(x-)?pkcs7-mime$/.test(root.node.contentType || '')) {
    return { bytes: decoded(root.body) }
  }
  if (root.node.multipart !== 'signed') return undefined
  const [content, signature] = parts.filter(({ within }) => within.length === 1)
  if (!content || !signature) return undefined
  if (!/^application\/(x-)?pkcs7-signature$/.test(signature.node.contentType || ''))
    return undefined
  return { bytes: decoded(signature.body), beside: raw.subarray(content.start, content.end) }
}

export function requiredCms(raw: Buffer, what: string): Found {
  const found = cmsIn(raw)
  if (!found) throw new Refused(`The text is not ${what} with S/MIME, and has no PEM block of CMS`)
  return found
}

const decoded = (body: Buffer): Buffer => Buffer.from(body.toString('latin1'), 'base64')
