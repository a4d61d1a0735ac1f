import { bufferOf, shared } from '../../../lib/shared-bytes.ts'
import { type NewEmail, writeMessage } from './write-message.ts'

interface Input {
  email: NewEmail
  blobs: [id: string, bytes: Uint8Array][]
  domain: string
  now: string
}

export default ({ email, blobs, domain, now }: Input): Uint8Array => {
  const found = new Map(blobs.map(([id, bytes]) => [id, bufferOf(bytes)]))
  return shared(writeMessage(email, found, { domain, now }))
}
