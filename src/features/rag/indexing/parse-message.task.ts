import { bufferOf } from '../../../lib/shared-bytes.ts'
import { parseMessage } from './parse-message.ts'
import type { Parsed } from './parsed.ts'

interface Input {
  source: Uint8Array
  received: Date | undefined
  fields: ReadonlySet<string>
}

/** mailparser needs quadratic time for some messages: runs in a worker thread. */
export default ({ source, received, fields }: Input): Promise<Parsed> =>
  parseMessage(bufferOf(source), received, fields)
