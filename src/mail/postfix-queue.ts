import { type MailQueue, QueueAway, type QueueChange, type QueuedMessage } from './mail-queue.ts'
import type { CurrentMailServers } from './mail-servers.ts'
import {
  localQueueCommands,
  MOST_IDS,
  type QueueCommand,
  type RunQueueCommand,
} from './postfix-program.ts'
import { MOST_HEADER_BYTES, readQueueFile } from './queue-file.ts'
import { lineCutter, readQueueLine } from './queue-lines.ts'

const LISTING_MS = 20_000
const COMMAND_MS = 10_000
const MANY_MS = 60_000

/** As root, postqueue also lists the files of a stopped Postfix; that counts as unreachable. */
const isDown = (complaint: string) => /mail system is down/i.test(complaint)

/** A line of postsuper for a message that it has changed. */
const CHANGED =
  /^postsuper: ([A-Za-z0-9]+): (?:placed on hold|released from hold|requeued|removed)$/gm

/** Postcat for a queue id that is not in the queue. */
const isUnknown = (complaint: string) => /No such file or directory/.test(complaint)
const MOST_WORDS = 4096

/** Returns whether the settings name a Postfix on this machine. */
export const hasPostfix = (mailServers: CurrentMailServers): boolean =>
  mailServers.current().POSTFIX_CONFIG_DIR !== undefined

/** Runs the programs of the Postfix on this machine in this process. */
export const ownQueueCommands = (mailServers: CurrentMailServers): RunQueueCommand =>
  localQueueCommands(() => {
    const folder = mailServers.current().POSTFIX_CONFIG_DIR
    if (folder === undefined) throw new QueueAway('POSTFIX_CONFIG_DIR is not set')
    return folder
  })

/** Reads and changes the queue of the Postfix on this machine with its own programs. */
export function postfixQueue(start: RunQueueCommand, isConfigured: () => boolean): MailQueue {
  async function walk(visit: (message: QueuedMessage) => void) {
    const { onOutput, ended } = start({ verb: 'list' }, LISTING_MS)
    let visited = 0
    let unreadable = 0
    const lines = lineCutter((line) => {
      const message = line === undefined ? undefined : readQueueLine(line)
      if (message) {
        visited++
        visit(message)
      } else unreadable++
    })
    onOutput((bytes) => lines.take(bytes))
    const { status, complaint, isLate } = await ended
    if (isDown(complaint)) throw new QueueAway('Postfix is stopped')
    if (isLate && visited > 0) {
      return `The listing took too long and was ended after ${visited} messages`
    }
    if (isLate) throw new QueueAway('postqueue did not answer in time')
    if (status !== 0) throw new QueueAway(complaint || `postqueue ended with status ${status}`)
    lines.end()
    return unreadable === 0 ? undefined : `${unreadable} entries of the listing could not be read`
  }

  /** Runs a command to its end and returns its standard error. */
  async function run(command: QueueCommand, timeoutMs = COMMAND_MS): Promise<string> {
    const { status, complaint, isLate } = await start(command, timeoutMs).ended
    if (isLate) throw new QueueAway('Postfix did not answer in time')
    if (status !== 0) {
      throw new QueueAway(complaint.slice(-MOST_WORDS) || `Postfix ended with status ${status}`)
    }
    return complaint
  }

  /** postsuper exits with 0 for an unknown message too; only its output shows the difference. */
  const change = async (verb: QueueChange, queueIds: readonly string[], timeoutMs = COMMAND_MS) => {
    const output = await run({ verb, queueIds }, timeoutMs)
    return [...output.matchAll(CHANGED)].map(([, id]) => id as string)
  }
  const changeOne = async (verb: QueueChange, queueId: string): Promise<boolean> =>
    (await change(verb, [queueId])).length === 1

  return {
    get isConfigured() {
      return isConfigured()
    },
    walk,

    /** Stops at the first message: one is enough to know that the queue is readable. */
    async probe() {
      const { onOutput, kill, ended } = start({ verb: 'list' }, COMMAND_MS)
      let isReadable = false
      onOutput(() => {
        isReadable = true
        kill()
      })
      const { status, complaint } = await ended
      if (isDown(complaint) || (!isReadable && status !== 0)) {
        throw new QueueAway(complaint || 'postqueue did not answer in time')
      }
    },

    async flush() {
      await run({ verb: 'flush' })
    },
    async flushOne(queueId) {
      await run({ verb: 'flush-one', queueIds: [queueId] })
    },
    async reload() {
      await run({ verb: 'reload' })
    },
    hold: (queueId) => changeOne('hold', queueId),
    release: (queueId) => changeOne('release', queueId),
    requeue: (queueId) => changeOne('requeue', queueId),
    delete: (queueId) => changeOne('delete', queueId),
    async changeAll(verb, queueIds) {
      const changed: string[] = []
      for (let at = 0; at < queueIds.length; at += MOST_IDS) {
        changed.push(...(await change(verb, queueIds.slice(at, at + MOST_IDS), MANY_MS)))
      }
      return changed
    },

    async headers(queueId) {
      const { onOutput, kill, ended } = start({ verb: 'headers', queueIds: [queueId] }, COMMAND_MS)
      const pieces: Buffer[] = []
      let length = 0
      onOutput((bytes) => {
        pieces.push(bytes)
        length += bytes.length
        if (length > MOST_HEADER_BYTES) kill()
      })
      const { status, complaint, isLate } = await ended
      if (isLate) throw new QueueAway('Postfix did not answer in time')
      const isCut = length > MOST_HEADER_BYTES
      if (status !== 0 && !isCut) {
        if (isUnknown(complaint)) return undefined
        throw new QueueAway(complaint || `postcat ended with status ${status}`)
      }
      return readQueueFile(Buffer.concat(pieces).toString('utf8'), isCut)
    },
  }
}
