import { bufferOf } from '../../../lib/shared-bytes.ts'
import { shownEmail, type Wanted } from './shown-email.ts'

interface Input {
  messages: { raw: Uint8Array; blobId: string }[]
  wanted: Wanted
}

/** Takes messages apart in a worker thread: a message can be large and hostile. */
export default ({ messages, wanted }: Input) =>
  Promise.all(messages.map(({ raw, blobId }) => shownEmail(bufferOf(raw), wanted, blobId)))
