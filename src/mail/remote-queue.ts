import { QueueAway } from './mail-queue.ts'
import type { Ended, RunQueueCommand } from './postfix-program.ts'
import { lineCutter } from './queue-lines.ts'
import type { AnswerLine } from './queue-request.ts'

/** For the connection, beyond the time limit of the program. */
const PATIENCE_MS = 10_000

/** Has the service `queue_manager` run the commands, which may be on another machine. */
export const remoteQueueCommands =
  (url: string, internalToken: string): RunQueueCommand =>
  (command, timeoutMs) => {
    const listeners: ((bytes: Buffer) => void)[] = []
    const killed = new AbortController()

    async function run(): Promise<Ended> {
      const response = await fetch(new URL('/command', url), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${internalToken}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ command, timeoutMs }),
        redirect: 'error',
        signal: AbortSignal.any([killed.signal, AbortSignal.timeout(timeoutMs + PATIENCE_MS)]),
      })
      if (!response.ok || !response.body) {
        throw new QueueAway(`the queue manager answered ${response.status}`)
      }
      let ended: Ended | undefined
      let problem: string | undefined
      const lines = lineCutter((line) => {
        const answer = JSON.parse(line ?? '{}') as AnswerLine
        if ('output' in answer) {
          const bytes = Buffer.from(answer.output, 'base64')
          for (const listener of listeners) listener(bytes)
        } else if ('result' in answer) ended = answer.result as Ended
        else problem = answer.error
      })
      for await (const bytes of response.body) lines.take(Buffer.from(bytes))
      lines.end()
      if (ended === undefined) throw new QueueAway(problem ?? 'the queue manager hung up')
      return ended
    }

    const ended = run().catch((error): Ended => {
      if (killed.signal.aborted) return { status: null, complaint: '', isLate: false }
      if (error instanceof QueueAway) throw error
      throw new QueueAway('the queue manager does not answer', { cause: error })
    })
    // Callers may await it later; until then a rejection must not count as unhandled.
    ended.catch(() => {})
    return {
      onOutput: (listener) => void listeners.push(listener),
      kill: () => killed.abort(),
      ended,
    }
  }
