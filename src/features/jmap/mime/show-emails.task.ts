import { bufferOf } from '../../../lib/shared-bytes.ts'
import { NoRoom, roomOf } from './room.ts'
import { shownEmail, type Wanted } from './shown-email.ts'

interface Input {
  raw: Uint8Array
  blobId: string
  wanted: Wanted
  /** The size that the result may have. */
  maxBytes: number
}

/**
 * Takes a message apart in a worker thread: it can be large and hostile. Undefined when the result has no
 * room.
 */
export default async ({ raw, blobId, wanted, maxBytes }: Input) => {
  const room = roomOf(maxBytes)
  try {
    const shown = await shownEmail(bufferOf(raw), wanted, { blobId, room })
    return { shown, bytes: room.used() }
  } catch (error) {
    if (error instanceof NoRoom) return undefined
    throw error
  }
}
