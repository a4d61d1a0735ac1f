import { joinedAtOnce } from '../../../lib/shared-bytes.ts'
import { type HeaderLine, headerBlock, headerEnd } from '../../../mime/headers.ts'
import type { MimeMessage } from '../../../mime/message.ts'

/** With OpenPGP or S/MIME. */
export const isEncryptedAlready = (message: MimeMessage): boolean =>
  message.summary.isEncrypted || isInline(message)

/** The whole text of the message is an encrypted one. */
function isInline({ structure: { root } }: MimeMessage): boolean {
  if (root.node.multipart) return false
  const text = root.body.toString('latin1').trim()
  return (
    text.startsWith('-----BEGIN PGP MESSAGE-----') &&
    text.indexOf('-----END PGP MESSAGE-----') === text.length - '-----END PGP MESSAGE-----'.length
  )
}

const isOfContent = ({ name }: HeaderLine): boolean =>
  name.startsWith('content-') || name === 'mime-version'

/** The part of a message that is encrypted, with its own header, and the header that stays. */
export function divided({ headers, raw }: MimeMessage): [content: Buffer, outer: HeaderLine[]] {
  const inner = headers.filter((one) => isOfContent(one) && one.name !== 'mime-version')
  const end = headerEnd(raw)
  const body = end === raw.length ? Buffer.from('\r\n') : raw.subarray(end)
  return [joinedAtOnce([headerBlock(inner), body]), headers.filter((one) => !isOfContent(one))]
}
