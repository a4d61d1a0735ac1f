import type { Config } from '../config.ts'
import { isQueueId, type MailQueue, QueueAway, type QueuedMessage } from './mail-queue.ts'
import { runProgram, startProgram } from './postfix-program.ts'
import { lineCutter, readQueueLine } from './queue-lines.ts'

const LISTING_MS = 20_000
const COMMAND_MS = 10_000

/** Root sees the files of a stopped Postfix; they say nothing about mail that moves. */
const isDown = (complaint: string) => /mail system is down/i.test(complaint)

/** The queue of the Postfix on this machine, through its own programs. */
export function postfixQueue(config: Pick<Config, 'POSTFIX_CONFIG_DIR'>): MailQueue {
  /** Read at every use: a mail server may be given, or move, while we run. */
  function place(): ['-c', string] {
    const folder = config.POSTFIX_CONFIG_DIR
    if (folder === undefined) throw new QueueAway('POSTFIX_CONFIG_DIR is not set')
    return ['-c', folder]
  }

  async function walk(visit: (message: QueuedMessage) => void) {
    const { program, ended } = startProgram('postqueue', [...place(), '-j'], LISTING_MS)
    let seen = 0
    let unreadable = 0
    const lines = lineCutter((line) => {
      const message = line === undefined ? undefined : readQueueLine(line)
      if (message) {
        seen++
        visit(message)
      } else unreadable++
    })
    program.stdout.on('data', (bytes: Buffer) => lines.take(bytes))
    const { status, complaint, isLate } = await ended
    if (isDown(complaint)) throw new QueueAway('Postfix is stopped')
    if (isLate && seen > 0) return `The listing took too long and was ended after ${seen} messages`
    if (isLate) throw new QueueAway('postqueue did not answer in time')
    if (status !== 0) throw new QueueAway(complaint || `postqueue ended with status ${status}`)
    lines.end()
    return unreadable === 0 ? undefined : `${unreadable} entries of the listing could not be read`
  }

  /** Exits well also when there is no such message; only its words tell. */
  async function change(flag: '-h' | '-H', queueId: string): Promise<boolean> {
    const words = await runProgram('postsuper', [...place(), flag, known(queueId)], COMMAND_MS)
    return /: 1 message/.test(words)
  }

  return {
    walk,

    /** The first message tells as much as all of them. */
    async probe() {
      const { program, ended } = startProgram('postqueue', [...place(), '-j'], COMMAND_MS)
      let isSeen = false
      program.stdout.once('data', () => {
        isSeen = true
        program.kill('SIGKILL')
      })
      const { status, complaint } = await ended
      if (isDown(complaint) || (!isSeen && status !== 0)) {
        throw new QueueAway(complaint || 'postqueue did not answer in time')
      }
    },

    async flush() {
      await runProgram('postqueue', [...place(), '-f'], COMMAND_MS)
    },
    async flushOne(queueId) {
      await runProgram('postqueue', [...place(), '-i', known(queueId)], COMMAND_MS)
    },
    hold: (queueId) => change('-h', queueId),
    release: (queueId) => change('-H', queueId),
  }
}

/** `-` reads more ids from standard input, `ALL` means every message: neither is an id here. */
function known(queueId: string): string {
  if (!isQueueId(queueId)) throw new TypeError('not a queue id')
  return queueId
}
