import type { QueuedMessage, QueueStatus } from './mail-queue.ts'

// A message with very many recipients is one line.
const MAX_LINE = 16 * 1024 * 1024

/** One line of `postqueue -j`. */
interface Line {
  queue_name?: unknown
  queue_id?: unknown
  arrival_time?: unknown
  message_size?: unknown
  sender?: unknown
  recipients?: unknown
}

const STATUSES: Record<string, QueueStatus> = { deferred: 'deferred', hold: 'hold' }

/** Returns undefined for a line that does not describe a message. */
export function readQueueLine(text: string): QueuedMessage | undefined {
  let line: Line | null
  try {
    line = JSON.parse(text)
  } catch {
    return undefined
  }
  if (line === null || typeof line !== 'object' || typeof line.queue_id !== 'string')
    return undefined
  const { queue_id, queue_name, recipients } = line
  return {
    queue_id,
    // Messages in incoming and maildrop move to the active queue next.
    status: STATUSES[String(queue_name)] ?? 'active',
    sender: typeof line.sender === 'string' ? line.sender : '',
    recipients: (Array.isArray(recipients) ? recipients : []).map((one) => ({
      address: String(one?.address ?? ''),
      reason: typeof one?.delay_reason === 'string' ? one.delay_reason : null,
    })),
    size: Number(line.message_size) || 0,
    arrived: new Date((Number(line.arrival_time) || 0) * 1000),
  }
}

/** Splits a stream of bytes into lines; passes undefined for a line over MAX_LINE bytes. */
export function lineCutter(each: (line: string | undefined) => void) {
  let rest: Buffer[] = []
  let length = 0
  let skipping = false
  const end = () => {
    if (!skipping && length > 0) each(Buffer.concat(rest, length).toString('utf8'))
    rest = []
    length = 0
    skipping = false
  }
  return {
    take(bytes: Buffer) {
      let from = 0
      for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
        add(bytes.subarray(from, at))
        end()
        from = at + 1
      }
      add(bytes.subarray(from))
    },
    end,
  }

  function add(part: Buffer) {
    if (skipping || part.length === 0) return
    rest.push(part)
    length += part.length
    if (length <= MAX_LINE) return
    each(undefined)
    skipping = true
    rest = []
    length = 0
  }
}
