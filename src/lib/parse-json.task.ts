import { parseJson } from './json.ts'
import { bufferOf } from './shared-bytes.ts'

/** Returns the value, or why it was refused. */
export default (body: Uint8Array): { value: unknown } | { refusal: string } => {
  try {
    return { value: parseJson(bufferOf(body)) }
  } catch (error) {
    return { refusal: (error as Error).message }
  }
}
