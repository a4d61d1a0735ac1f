import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const source = 'queue_manager'
/** The operator, or the user or key of the organization that sent the mail. */
const by = {
  operator_id: Type.Optional(Type.String()),
  actor: Type.Optional(Type.String({ examples: ['user:ada@acme.example'] })),
}
/** One message, or all mail of a sender: an e-mail address or an @ with a domain. */
const which = {
  queue_id: Type.Optional(Type.String()),
  sender: Type.Optional(Type.String()),
}

export const QueueFlushed = defineEvent('queue.flushed', {
  source,
  summary: 'An operator had deferred mail tried at once',
  data: Type.Object({
    queue_name: Type.String(),
    action: Type.Optional(
      Type.Literal('requeue', { description: 'The mail passes through Postfix again' }),
    ),
    domain: Type.Optional(Type.String()),
    ...which,
    count: Type.Integer(),
    ...by,
  }),
})

export const QueueHeld = defineEvent('queue.held', {
  source,
  summary: 'A message, or all mail of a sender, was put on hold',
  data: Type.Object({ ...which, count: Type.Integer(), ...by }),
})

export const QueueReleased = defineEvent('queue.released', {
  source,
  summary: 'Mail that was on hold may be delivered again',
  data: Type.Object({
    ...which,
    domain: Type.Optional(Type.String()),
    count: Type.Integer(),
    ...by,
  }),
})

export const QueueDeleted = defineEvent('queue.deleted', {
  source,
  summary: 'A message, or all mail of a sender, was deleted from the queue',
  data: Type.Object({ ...which, count: Type.Integer(), ...by }),
})

export const QueueMessageFailed = defineEvent('queue.message.failed', {
  source,
  summary: 'Postfix failed to do with a message what the caller asked for',
  data: Type.Object({ queue_id: Type.String(), error: Type.String(), ...by }),
})
