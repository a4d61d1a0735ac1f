import { bufferOf } from '../../../lib/shared-bytes.ts'
import { filesOf, type MailFile } from './files.ts'

/** Reads every part of a message: runs in a worker thread. */
export default function files({ raw }: { raw: Uint8Array }): MailFile[] {
  return filesOf(bufferOf(raw))
}
