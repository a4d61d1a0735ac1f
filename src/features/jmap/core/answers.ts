import { breather } from '../../../lib/breather.ts'
import { type JsonSize, jsonPieces, jsonSize } from '../../../lib/json-pieces.ts'
import { JmapError } from './errors.ts'
import { MAX_ANSWER_BYTES } from './limits.ts'

export type Invocation = [name: string, args: Record<string, unknown>, callId: string]

const CHUNK_BYTES = 64 * 1024
/** Values in what one result reference stands for; looking at more takes long. */
const MAX_REFERENCED_VALUES = 250_000
/** An error can repeat what the client has sent. */
const MAX_ERROR: JsonSize = { bytes: 16 * 1024, values: 1000 }

export interface ShownError {
  type: string
  description?: string
}

export type Answers = ReturnType<typeof answersOf>

export const answerTooLarge = () =>
  new JmapError('requestTooLarge', { description: 'The answer is too large; ask for less at once' })

/** The answers to the calls of a request, with a limit for all of them together. */
export function answersOf(maxBytes = MAX_ANSWER_BYTES) {
  const list: Invocation[] = []
  const chunks: Buffer[] = []
  const breathe = breather()
  let used = 0

  const left = () => Math.max(0, maxBytes - used)

  async function write(answer: Invocation, limit: number): Promise<void> {
    const written = await chunksOf(answer, limit, breathe)
    if (!written) throw answerTooLarge()
    if (chunks.length > 0) chunks.push(Buffer.from(','))
    chunks.push(...written)
    used += written.reduce((sum, { length }) => sum + length, 0)
    list.push(answer)
  }

  return {
    list: list as readonly Invocation[],
    /** The JSON of all answers, with commas between them. */
    chunks: chunks as readonly Buffer[],
    /** Bytes that further answers may have. */
    left,

    add: (answer: Invocation) => write(answer, left()),

    /** For a change that has been made: its answer must not be lost. It is about as long as the call. */
    addDone: (answer: Invocation) => write(answer, Number.POSITIVE_INFINITY),

    addError(error: ShownError, callId: string): Promise<void> {
      const shown = jsonSize(error, MAX_ERROR) ? error : { type: error.type }
      return write(['error', { ...shown }, callId], Number.POSITIVE_INFINITY)
    },

    /** Counts a part of an answer that a call refers to. */
    async refer(value: unknown): Promise<void> {
      const size = jsonSize(value, { bytes: left(), values: MAX_REFERENCED_VALUES })
      if (!size) throw answerTooLarge()
      used += size.bytes
      await breathe()
    },
  }
}

/** Undefined when the value is longer. */
async function chunksOf(value: unknown, maxBytes: number, breathe: () => Promise<void>) {
  const chunks: Buffer[] = []
  let bytes = 0
  let text = ''
  const flush = async () => {
    const chunk = Buffer.from(text)
    text = ''
    chunks.push(chunk)
    bytes += chunk.length
    await breathe()
  }
  for (const piece of jsonPieces(value)) {
    text += piece
    if (text.length >= CHUNK_BYTES) await flush()
    if (bytes > maxBytes) return undefined
  }
  await flush()
  return bytes > maxBytes ? undefined : chunks
}

interface Response {
  answers: Pick<Answers, 'chunks'>
  createdIds: Record<string, string> | undefined
  sessionState: string
}

/** The body of a response, RFC 8620 section 3.4. */
export function responseChunks({ answers, createdIds, sessionState }: Response): Buffer[] {
  const rest = JSON.stringify({ ...(createdIds && { createdIds }), sessionState })
  return [Buffer.from('{"methodResponses":['), ...answers.chunks, Buffer.from(`],${rest.slice(1)}`)]
}
