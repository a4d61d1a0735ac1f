import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { internal } from '../../access/labels.ts'
import type { Core } from '../../core.ts'
import { ServiceUnavailable } from '../../errors.ts'
import { QUEUE_CHANGES, QueueAway } from '../../mail/mail-queue.ts'
import type { QueueCommand, RunQueueCommand } from '../../mail/postfix-program.ts'
import { type AnswerLine, QueueRequest } from '../../mail/queue-request.ts'
import { ManyRequest, MessageParams, OptionalReason } from './queue.schemas.ts'
import type { QueueService } from './queue.service.ts'

const hidden = { hide: true } as const
const Sent = Type.Object({
  action: ManyRequest.properties.action,
  ids: ManyRequest.properties.ids,
  reason: Type.Optional(ManyRequest.properties.reason),
})

const OPERATIONS = {
  hold: 'hold_queued_message',
  release: 'release_queued_message',
  requeue: 'requeue_queued_message',
  delete: 'delete_queued_message',
} as const

interface Needs extends Pick<Core, 'log'> {
  queue: QueueService
  /** Runs the programs of the Postfix on this machine. */
  start: RunQueueCommand
  /** The newest sample of each part of the queue. */
  statistics(): Promise<object>
}

/** Called by other services of this installation; not part of the public API. */
export const queueManagerRoutes =
  ({ queue, start, statistics }: Needs): FastifyPluginAsyncTypebox =>
  async (app) => {
    const reading = { auth: internal() }
    const changing = { auth: internal(), audited: true }

    /** The queue of a process that has no rights on it: see `remoteQueueCommands`. */
    app.post('/command', {
      config: reading,
      schema: { ...hidden, body: QueueRequest },
      handler: ({ body }, reply) =>
        runAndStream(start, body.command as QueueCommand, body.timeoutMs, reply),
    })

    app.get('/api/status', {
      config: reading,
      schema: hidden,
      handler: async () => {
        try {
          const { total_messages, summary, messages, queue_error } = await queue.status()
          return { total_messages, summary, messages, ...(queue_error && { error: queue_error }) }
        } catch (error) {
          if (!(error instanceof ServiceUnavailable)) throw error
          const summary = { active: 0, deferred: 0, hold: 0 }
          return { total_messages: 0, summary, messages: [], error: error.message }
        }
      },
    })

    app.get('/api/statistics', { config: reading, schema: hidden, handler: statistics })

    app.post('/flush', {
      config: changing,
      schema: { ...hidden, operationId: 'flush_queue', body: OptionalReason },
      handler: async ({ caller }) => queue.flush(caller, {}),
    })

    for (const action of QUEUE_CHANGES) {
      app.post(`/message/:queue_id/${action}`, {
        config: changing,
        schema: {
          ...hidden,
          operationId: OPERATIONS[action],
          params: MessageParams,
          body: OptionalReason,
        },
        handler: async ({ caller, params }) => ({
          success: true,
          ...(await queue[action](caller, params.queue_id)),
        }),
      })
    }

    app.post('/messages', {
      config: changing,
      schema: { ...hidden, operationId: 'change_queued_messages', body: Sent },
      handler: async ({ caller, body }) => ({ success: true, ...(await queue.many(caller, body)) }),
    })

    app.get('/message/:queue_id', {
      config: reading,
      schema: { ...hidden, params: MessageParams },
      handler: ({ params }) => queue.message(params.queue_id),
    })
  }

/** Passes the output on as it comes; a caller that hangs up ends the program. */
async function runAndStream(
  start: RunQueueCommand,
  command: QueueCommand,
  timeoutMs: number,
  reply: FastifyReply,
) {
  reply.hijack()
  const { raw } = reply
  const send = (line: AnswerLine) => void (raw.writable && raw.write(`${JSON.stringify(line)}\n`))
  raw.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' })
  try {
    const { onOutput, kill, ended } = start(command, timeoutMs)
    raw.once('close', kill)
    onOutput((bytes) => send({ output: bytes.toString('base64') }))
    send({ result: await ended })
  } catch (error) {
    // A malformed command is a mistake of the caller; both end the answer.
    if (!(error instanceof QueueAway) && !(error instanceof TypeError)) throw error
    send({ error: error.message })
  } finally {
    raw.end()
  }
}
