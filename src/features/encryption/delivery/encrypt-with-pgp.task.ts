import { randomBytes } from 'node:crypto'
import * as openpgp from 'openpgp'
import { bufferOf, joinedAtOnce, shared } from '../../../lib/shared-bytes.ts'
import { type HeaderLine, headerBlock } from '../../../mime/headers.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { storedKey } from '../pgp/openpgp.ts'
import { divided, isEncryptedAlready } from './message-parts.ts'

interface Input {
  raw: Uint8Array
  publicKey: string
  /** A key that has expired still encrypts, as on its last day. */
  at: Date
}

/** Text compresses well; a small message is not worth the time. */
const COMPRESSED_FROM_BYTES = 256 * 1024

/** A message as PGP/MIME (RFC 3156) for one key; undefined if it is encrypted already. */
export default async ({ raw, publicKey, at }: Input): Promise<Uint8Array | undefined> => {
  const message = new MimeMessage(bufferOf(raw))
  if (isEncryptedAlready(message)) return undefined
  const encryptionKeys = await storedKey(publicKey)
  const [content, outer] = divided(message)
  const { uncompressed, zlib } = openpgp.enums.compression
  const isLarge = content.length >= COMPRESSED_FROM_BYTES
  const encrypted = await openpgp.encrypt({
    message: await openpgp.createMessage({ binary: new Uint8Array(content), date: at }),
    encryptionKeys,
    date: at,
    config: { preferredCompressionAlgorithm: isLarge ? zlib : uncompressed },
  })
  return shared(enveloped(outer, encrypted as string))
}

function enveloped(outer: readonly HeaderLine[], armoured: string): Buffer {
  const boundary = `encrypted-${randomBytes(12).toString('hex')}`
  const lines = [
    'MIME-Version: 1.0',
    'Content-Type: multipart/encrypted; protocol="application/pgp-encrypted";',
    ` boundary="${boundary}"`,
    '',
    'This is an OpenPGP/MIME encrypted message (RFC 3156).',
    `--${boundary}`,
    'Content-Type: application/pgp-encrypted',
    'Content-Description: PGP/MIME version identification',
    '',
    'Version: 1',
    '',
    `--${boundary}`,
    'Content-Type: application/octet-stream; name="encrypted.asc"',
    'Content-Description: OpenPGP encrypted message',
    'Content-Disposition: inline; filename="encrypted.asc"',
    '',
    armoured.trimEnd().replace(/\r?\n/g, '\r\n'),
    '',
    `--${boundary}--`,
    '',
  ]
  return joinedAtOnce([headerBlock(outer), Buffer.from(lines.join('\r\n'))])
}
