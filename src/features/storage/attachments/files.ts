import { MimeMessage } from '../../../mime/message.ts'
import { attachmentOf, isAttachment } from '../../../mime/parts.ts'
import type { Part } from '../../../mime/structure.ts'

/** A file of a message: an attachment, or a picture that belongs to the text. */
export interface MailFile {
  name: string
  type: string
  bytes: number
  isAttachment: boolean
}

export const filesOf = (raw: Buffer): MailFile[] =>
  new MimeMessage(raw).structure.parts
    .filter((part) => !part.node.multipart && (isAttachment(part) || Boolean(part.node.filename)))
    .map((part) => ({
      ...attachmentOf(part),
      bytes: decodedBytes(part),
      isAttachment: isAttachment(part),
    }))

/** The size of the decoded file, computed from the encoded one. */
function decodedBytes({ node, body }: Part): number {
  if (node.encoding !== 'base64') return body.length
  let characters = 0
  for (const byte of body) if (byte > 0x20 && byte !== 0x3d) characters++
  return Math.floor((characters * 3) / 4)
}
