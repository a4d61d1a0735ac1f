import { parseArgs } from 'node:util'
import { type Config, readConfig } from '../config/index.ts'
import { requireMigrated } from '../database/migrate.ts'
import { changeByCommand, changeSenderByCommand } from '../features/queue/queue.command.ts'
import { findOfSender, senderNamed } from '../features/queue/queue-of-sender.ts'
import { queueView } from '../features/queue/queue-view.ts'
import { type MailQueue, QUEUE_CHANGES, QueueAway, type QueueChange } from '../mail/mail-queue.ts'
import { watchMailServers } from '../mail/mail-servers.ts'
import { hasPostfix, ownQueueCommands, postfixQueue } from '../mail/postfix-queue.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

export async function queueCommands([verb, ...args]: string[]): Promise<void> {
  if (verb === 'list') return list(args)
  const change = QUEUE_CHANGES.find((one) => one === verb)
  if (change === undefined)
    throw new UsageError('queue takes list, hold, release, requeue or delete')
  return changeMessages(change, args)
}

async function list(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } })
  const view = queueView()
  const problem = await withQueue(readConfig(), (queue) => queue.walk(view.add))
  const { messages, total } = view
  print(
    messages.map(({ date: _, recipients, ...message }) => ({
      ...message,
      recipients: recipients.join(' '),
    })),
    values.json,
  )
  if (problem !== undefined) throw new StartupError(problem)
  if (total > messages.length) {
    process.stderr.write(`These are the first ${messages.length} of ${total} messages.\n`)
  }
}

async function changeMessages(change: QueueChange, args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      sender: { type: 'string' },
      yes: { type: 'boolean', default: false },
      reason: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const [queueId, ...more] = positionals
  if ((queueId === undefined) === (values.sender === undefined) || more.length > 0) {
    throw new UsageError(`queue ${change} takes either one QUEUE_ID or --sender`)
  }
  if (!values.reason?.trim()) throw new UsageError('--reason is missing')
  const config = readConfig()
  const wanted = { config, change, reason: values.reason }
  const done = await withQueue<Record<string, unknown>>(config, (queue) =>
    queueId === undefined
      ? changeSender({ ...wanted, queue }, values.sender ?? '', values.yes)
      : changeOne({ ...wanted, queue }, queueId),
  )
  print(done, values.json)
}

interface Wanted {
  config: Config
  change: QueueChange
  reason: string
  queue: MailQueue
}

async function changeOne(wanted: Wanted, queueId: string) {
  const found = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return changeByCommand(db, wanted, queueId)
  })
  if (!found) throw new StartupError(`there is no message ${queueId} in the queue`)
  return { queue_id: queueId, action: wanted.change, changed: 1 }
}

/** Counts first: without `--yes` nothing changes. */
async function changeSender(wanted: Wanted, sent: string, isConfirmed: boolean) {
  const { change, queue } = wanted
  const sender = senderNamed(sent)
  if (sender === undefined) {
    throw new UsageError('--sender must be an e-mail address, or an @ with a domain')
  }
  const { ids, summary } = await findOfSender(queue, change, sender)
  const found = { sender, action: change, matched: ids.length, ...summary }
  if (!isConfirmed) return { ...found, changed: 0, next: 'add --yes to change them' }
  const changed = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    let total = 0
    for (let remaining = ids.length; remaining > 0; ) {
      const step = await changeSenderByCommand(db, wanted, sender)
      total += step.changed
      // A step that changes nothing would be repeated for ever.
      remaining = step.changed === 0 ? 0 : step.remaining
    }
    return total
  })
  return { ...found, changed }
}

/** The programs of Postfix need the rights of root to change its queue. */
async function withQueue<Result>(config: Config, work: (queue: MailQueue) => Promise<Result>) {
  const servers = watchMailServers(config)
  try {
    return await work(postfixQueue(ownQueueCommands(servers), () => hasPostfix(servers)))
  } catch (error) {
    if (!(error instanceof QueueAway)) throw error
    throw new StartupError(`the mail queue cannot be used: ${error.message}`)
  } finally {
    servers.close()
  }
}
