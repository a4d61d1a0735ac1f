import { spawn } from 'node:child_process'
import { isQueueId, QueueAway } from './mail-queue.ts'

// A fixed PATH: these programs run as root, so the environment must not choose the executable.
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
/** A line of postsuper for each message. */
const MAX_COMPLAINT = 128 * 1024

/** Operations on the queue. */
export const QUEUE_VERBS = [
  'list',
  'flush',
  'flush-one',
  'hold',
  'release',
  'requeue',
  'delete',
  'headers',
  'reload',
] as const

/** More would take longer than the time limit of a command. */
export const MOST_IDS = 1000

export interface QueueCommand {
  verb: (typeof QUEUE_VERBS)[number]
  /** The messages, for all verbs that change or show some; one for `flush-one` and `headers`. */
  queueIds?: readonly string[]
}

export interface Ended {
  status: number | null
  /** Its standard error. */
  complaint: string
  isLate: boolean
}

export interface Running {
  onOutput(listener: (bytes: Buffer) => void): void
  kill(): void
  /** Settles when the program has ended. */
  ended: Promise<Ended>
}

/** Runs a command of the queue; it is killed after the time limit. */
export type RunQueueCommand = (command: QueueCommand, timeoutMs: number) => Running

/** Program, option, and the arguments after the messages. */
const PROGRAMS: Record<QueueCommand['verb'], readonly [string, string, ...string[]]> = {
  list: ['postqueue', '-j'],
  flush: ['postqueue', '-f'],
  'flush-one': ['postqueue', '-i'],
  hold: ['postsuper', '-h'],
  release: ['postsuper', '-H'],
  // Only these queues: a message under delivery would be sent twice.
  requeue: ['postsuper', '-r', 'deferred', 'hold'],
  delete: ['postsuper', '-d'],
  // Envelope and header, never the body.
  headers: ['postcat', '-qeh'],
  reload: ['postfix', 'reload'],
}

/** Starts a program of Postfix without a shell; `configFolder` throws when there is no Postfix. */
export const localQueueCommands =
  (configFolder: () => string): RunQueueCommand =>
  ({ verb, queueIds = [] }, timeoutMs) => {
    const [name, flag, ...after] = PROGRAMS[verb]
    // postsuper reads ids from standard input, which takes more of them than a command line.
    const isInput = name === 'postsuper'
    const isForOne = verb === 'flush-one' || verb === 'headers'
    const ids = isInput || isForOne ? queueIds.map(validated) : []
    if ((isInput && ids.length === 0) || (isForOne && ids.length !== 1)) {
      throw new TypeError('not a queue id')
    }
    const messages = isInput ? ['-'] : ids
    const program = spawn(name, ['-c', configFolder(), flag, ...messages, ...after], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH, LC_ALL: 'C', TZ: 'UTC' },
      cwd: '/',
    })
    const ended = new Promise<Ended>((resolve, reject) => {
      let complaint = ''
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        program.kill('SIGKILL')
      }, timeoutMs)
      program.stderr.setEncoding('utf8').on('data', (text: string) => {
        // The end: after a line for each message, postsuper prints how many it has changed.
        complaint = (complaint + text).slice(-MAX_COMPLAINT)
      })
      program.once('error', (error) => {
        clearTimeout(timer)
        reject(new QueueAway(`${name} could not be started`, { cause: error }))
      })
      program.once('close', (status) => {
        clearTimeout(timer)
        resolve({ status, complaint: complaint.trim(), isLate })
      })
    })
    // Callers may await it later; until then a rejection must not count as unhandled.
    ended.catch(() => {})
    program.stdout.resume()
    // A program that ends early closes its input; `ended` has the reason.
    program.stdin.on('error', () => {}).end(isInput ? ids.map((id) => `${id}\n`).join('') : '')
    return {
      onOutput: (listener) => program.stdout.on('data', listener),
      kill: () => program.kill('SIGKILL'),
      ended,
    }
  }

/** Rejects `-` (more ids from standard input) and `ALL` (every message). */
function validated(queueId: string): string {
  if (!isQueueId(queueId)) throw new TypeError('not a queue id')
  return queueId
}
