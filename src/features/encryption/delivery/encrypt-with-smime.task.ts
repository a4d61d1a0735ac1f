import { bufferOf, joinedAtOnce, shared } from '../../../lib/shared-bytes.ts'
import { headerBlock } from '../../../mime/headers.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { encryptedEntity } from '../smime/entity.ts'
import { enveloped } from '../smime/enveloped.ts'
import { storedCertificate } from '../smime/stored.ts'
import { divided, isEncryptedAlready } from './message-parts.ts'

interface Input {
  raw: Uint8Array
  /** In PEM. */
  publicKey: string
}

/** A message as S/MIME (RFC 8551) for one certificate; undefined if it is encrypted already. */
export default async ({ raw, publicKey }: Input): Promise<Uint8Array | undefined> => {
  const message = new MimeMessage(bufferOf(raw))
  if (isEncryptedAlready(message)) return undefined
  const [content, outer] = divided(message)
  const sealed = enveloped(content, [storedCertificate(publicKey)], 'aes-256-cbc')
  const entity = Buffer.from(`MIME-Version: 1.0\r\n${encryptedEntity(sealed)}`)
  return shared(joinedAtOnce([headerBlock(outer), entity]))
}
